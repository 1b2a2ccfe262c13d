// A value that is not JSON, as JSON: with the name of its schema, or the reason why it is not decoded.

import type { components } from 'dlq-client/api-types.ts'
import { useState } from 'react'
import { decodingText } from '../../domain/payload/decoding.ts'
import { layOut } from '../../domain/payload/value.ts'
import { Button } from '../controls/button.tsx'
import { copyText } from '../toasts.tsx'
import styles from './message.module.css'

type Props = {
  decoding: NonNullable<components['schemas']['Decoding']>
  /** JSON text; null while it is fetched, or where there is none. */
  json: string | null
  hidden: boolean
}

export function DecodedView({ decoding, json, hidden }: Props) {
  const [shown, setShown] = useState(false)
  const isShown = json !== null && (shown || !hidden)
  return (
    <div className={styles.value}>
      <p className={styles.over}>
        <span>{decodingText(decoding)}</span>
        {json !== null && hidden && !shown ? <Button onPress={() => setShown(true)}>Show decoded</Button> : null}
        {isShown ? (
          <Button look="quiet" onPress={() => void copyText(json, 'the decoded value')}>
            Copy decoded
          </Button>
        ) : null}
      </p>
      {isShown ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it
        <pre className={styles.text} tabIndex={0}>
          {layOut(json)}
        </pre>
      ) : null}
    </div>
  )
}
