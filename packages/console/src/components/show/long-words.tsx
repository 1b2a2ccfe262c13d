// Words of any length, such as an error with a whole request in it: their beginning, so that what follows stays in
// sight, and all of them on demand.

import { useState } from 'react'
import { headOf, numberText } from '../../domain/words.ts'
import { Button } from '../controls/button.tsx'
import { DirectedText } from './directed-text.tsx'

/** Some lines. A heading has larger letters, and is cut sooner. */
const shownChars = 300

export function useLongWords(text: string, most = shownChars) {
  const [whole, setWhole] = useState<string | null>(null)
  const isWhole = whole === text
  return {
    words: isWhole ? text : headOf(text, most),
    toggle:
      text.length <= most ? null : (
        <Button look="quiet" onPress={() => setWhole(isWhole ? null : text)}>
          {isWhole ? 'Show less' : `Show all ${numberText(text.length)} characters`}
        </Button>
      ),
  }
}

export function LongWords({ text }: { text: string }) {
  const { words, toggle } = useLongWords(text)
  return (
    <>
      <bdi>
        <DirectedText text={words} />
      </bdi>{' '}
      {toggle}
    </>
  )
}
