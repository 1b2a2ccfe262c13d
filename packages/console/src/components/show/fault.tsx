// What went wrong, in the API's words, beside what failed: the faults of single fields, the request's id, and a way on.

import { useState } from 'react'
import { changeWords, faultOf, isAnswerLost } from '../../data/faults.ts'
import { serverTime } from '../../data/server-clock.ts'
import { Button } from '../controls/button.tsx'
import { DirectedText } from './directed-text.tsx'
import styles from './fault.module.css'
import { Time } from './time.tsx'

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
  /** When what stands beside it was read, by the page's clock; 0 where nothing was. */
  readAt?: number
  onRetry?: () => unknown
}

export function FaultText({ fault, what, readAt = 0, onRetry }: Props) {
  // Where single fields are faulty, the API's sentence has said them already.
  const details = fault.details.filter(({ message }) => !fault.message.includes(message))
  return (
    <div role="alert" className={styles.fault}>
      <p>
        {what === undefined ? null : (
          <strong>
            {what}
            {readAt === 0 ? null : (
              <>
                , as of <Time at={serverTime(readAt)} />
              </>
            )}
            :{' '}
          </strong>
        )}
        <DirectedText text={fault.message} />
      </p>
      {details.length === 0 ? null : (
        <ul>
          {details.map(({ field, message }, place) => (
            <li key={`${place} ${field}`}>
              <code>{field}</code> {message}
            </li>
          ))}
        </ul>
      )}
      <p className={styles.foot}>
        {onRetry === undefined || final.has(fault.status ?? 0) ? null : <TryAgain onRetry={onRetry} />}
        {fault.requestId === null ? null : <code>{fault.requestId}</code>}
      </p>
    </div>
  )
}

/** What failed stays in its place until there is an answer: the button tells that it is asked for. */
function TryAgain({ onRetry }: { onRetry: () => unknown }) {
  const [asking, setAsking] = useState(false)
  const ask = async () => {
    setAsking(true)
    await onRetry()
    setAsking(false)
  }
  return (
    <Button isPending={asking} onPress={() => void ask()}>
      {asking ? 'Asking …' : 'Try again'}
    </Button>
  )
}

/** Why a change was not made, as far as that is known; nothing where there was no fault. */
export function ChangeFault({ error, what }: { error: unknown; what?: string }) {
  if (error === null) return null
  const fault = faultOf(error)
  return <FaultText fault={fault} what={what === undefined || isAnswerLost(fault) ? changeWords(fault) : what} />
}

type QueryProps = {
  query: { readonly error: unknown; readonly dataUpdatedAt: number; readonly refetch: () => unknown }
  what?: string
  /** What is shown beside it was read earlier: it says when. */
  withAge?: boolean
}

/** Why something cannot be read, and a way to ask again; nothing where it was read. */
export function QueryFault({ query, what, withAge = false }: QueryProps) {
  if (query.error === null) return null
  return (
    <FaultText
      fault={faultOf(query.error)}
      {...(what === undefined ? {} : { what })}
      {...(withAge ? { readAt: query.dataUpdatedAt } : {})}
      onRetry={query.refetch}
    />
  )
}

/** Stands on a page that shows what was read before, and cannot be read now. */
export function LastKnown({ query }: { query: QueryProps['query'] }) {
  if (query.dataUpdatedAt === 0) return null
  return <QueryFault query={query} what="What is shown is the last that was known" withAge />
}
