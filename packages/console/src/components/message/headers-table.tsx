// The headers in the order of the record; names repeat. What frameworks wrote about the failure stands apart.

import { DirectedText } from '../show/directed-text.tsx'
import styles from './message.module.css'

type Header = { name: string; value: string | null; encoding: 'text' | 'number' | 'base64' }

/** Headers of frameworks that describe the failure; a retry does not send them. */
const aboutFailure =
  /^(kafka_(dlt|exception|original)|x-?(exception|original|death|dlq|error)|__connect\.errors|dlq[-_.]|springDeserializerException|retry_topic|dead-letter)/i

type Props = {
  headers: readonly Header[] | null
  hidden: boolean
  /** Values of some are hidden by masks. */
  masked?: boolean
}

export function HeadersTable({ headers, hidden, masked = false }: Props) {
  if (headers === null) return <p className={styles.quiet}>This message has no record, so it has no headers.</p>
  if (headers.length === 0) return <p className={styles.quiet}>The record has no headers.</p>
  const failure = headers.filter(({ name }) => aboutFailure.test(name))
  const rest = headers.filter(({ name }) => !aboutFailure.test(name))
  return (
    <>
      {masked ? <p className={styles.quiet}>Hidden from you by a mask: what ••• stands for.</p> : null}
      {rest.length === 0 ? null : <Rows rows={rest} hidden={hidden} />}
      {failure.length === 0 ? null : (
        <details className={styles.libraries} open={rest.length === 0}>
          <summary>{failure.length} written about the failure; a retry does not send them</summary>
          <Rows rows={failure} hidden={hidden} />
        </details>
      )}
    </>
  )
}

function Rows({ rows, hidden }: { rows: readonly Header[]; hidden: boolean }) {
  return (
    <dl className={styles.pairs}>
      {rows.map(({ name, value, encoding }, place) => (
        <div key={`${place} ${name}`}>
          <dt>
            <DirectedText text={name} />
          </dt>
          <dd>
            <code>
              <DirectedText text={hidden ? '•••' : (value ?? 'null')} />
            </code>
            {encoding === 'text' ? null : <span className={styles.quiet}> {encoding}</span>}
          </dd>
        </div>
      ))}
    </dl>
  )
}
