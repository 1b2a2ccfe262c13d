// A value that is not its bytes: JSON that was decoded, with the name of its schema or the reason why it is not; or what
// masks leave of it.

import { useState } from 'react'
import { Button } from '../controls/button.tsx'
import { copyText } from '../toasts.tsx'
import styles from './message.module.css'
import { useLaidOut } from './use-laid-out.ts'
import { LongText } from './value-view.tsx'

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
  const laidOut = useLaidOut(json)
  const isShown = json !== null && laidOut !== null && (shown || !hidden)
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
        <>
          {laidOut.note === null ? null : <p className={styles.quiet}>{laidOut.note}</p>}
          <LongText text={laidOut.text} />
        </>
      ) : null}
    </div>
  )
}
