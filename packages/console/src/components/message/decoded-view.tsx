// A value that is not its bytes: JSON that was decoded, with the name of its schema or the reason why it is not; or what
// masks leave of it.

import { useMemo, useState } from 'react'
import { layOut } from '../../domain/payload/value.ts'
import { Button } from '../controls/button.tsx'
import { copyText } from '../toasts.tsx'
import { DirectedText } from './directed-text.tsx'
import styles from './message.module.css'

type Props = {
  /** What it is, in words. */
  said: string
  /** What the buttons call it. */
  what: string
  /** JSON text; null while it is fetched, or where there is none. */
  json: string | null
  hidden: boolean
}

export function DecodedView({ said, what, json, hidden }: Props) {
  const [shown, setShown] = useState(false)
  const laidOut = useMemo(() => (json === null ? '' : layOut(json)), [json])
  const isShown = json !== null && (shown || !hidden)
  return (
    <div className={styles.value}>
      <p className={styles.over}>
        <span>{said}</span>
        {json !== null && hidden && !shown ? <Button onPress={() => setShown(true)}>Show {what}</Button> : null}
        {isShown ? (
          <Button look="quiet" onPress={() => void copyText(json, `the ${what} value`)}>
            Copy {what}
          </Button>
        ) : null}
      </p>
      {isShown ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard has to reach it
        <pre className={styles.text} tabIndex={0}>
          <DirectedText text={laidOut} />
        </pre>
      ) : null}
    </div>
  )
}
