// What went wrong, in the API's words, beside what failed: the faults of single fields, the request's id, and a way on.

import { Button } from '../controls/button.tsx'
import styles from './fault.module.css'

export type Fault = {
  message: string
  requestId: string | null
  /** Of the answer; 0 where none came. */
  status?: number
  details: readonly { field: string; message: string }[]
}

/** Whoever asks the same again hears the same again. */
const final: ReadonlySet<number> = new Set([400, 404, 422])

type Props = {
  fault: Fault
  /** What was not possible: "The groups could not be read". */
  what?: string
  onRetry?: () => void
}

export function FaultText({ fault, what, onRetry }: Props) {
  // Where single fields are faulty, the API's sentence has said them already.
  const details = fault.details.filter(({ message }) => !fault.message.includes(message))
  return (
    <div role="alert" className={styles.fault}>
      <p>
        {what === undefined ? null : <strong>{what}: </strong>}
        {fault.message}
      </p>
      {details.length === 0 ? null : (
        <ul>
          {details.map(({ field, message }) => (
            <li key={`${field} ${message}`}>
              <code>{field}</code> {message}
            </li>
          ))}
        </ul>
      )}
      <p className={styles.foot}>
        {onRetry === undefined || final.has(fault.status ?? 0) ? null : <Button onPress={onRetry}>Try again</Button>}
        {fault.requestId === null ? null : <code>{fault.requestId}</code>}
      </p>
    </div>
  )
}
