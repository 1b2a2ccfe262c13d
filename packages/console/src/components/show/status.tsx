// The states of a message: a shape, a colour and a word, never the colour alone.

import type { Status } from '../../domain/states.ts'
import { stateWords } from '../../domain/states.ts'
import styles from './status.module.css'

function StatusMark({ status }: { status: Status }) {
  return (
    <svg viewBox="0 0 12 12" className={`${styles.mark} ${styles[status]}`} aria-hidden="true">
      {status === 'PENDING' ? (
        <circle cx="6" cy="6" r="4.2" fill="none" stroke="currentColor" strokeWidth="1.8" />
      ) : null}
      {status === 'RETRYING' ? (
        <>
          <circle cx="6" cy="6" r="4.2" fill="none" stroke="currentColor" strokeWidth="1.8" />
          <path d="M6 1.8a4.2 4.2 0 0 1 0 8.4z" fill="currentColor" />
        </>
      ) : null}
      {status === 'RESOLVED' ? (
        <path d="M1.8 6.4 4.8 9.4 10.4 2.8" fill="none" stroke="currentColor" strokeWidth="2" />
      ) : null}
      {status === 'DEAD' ? <rect x="1.8" y="1.8" width="8.4" height="8.4" fill="currentColor" /> : null}
    </svg>
  )
}

/** The mark, and its word for those who hear it. */
export function SpokenMark({ status }: { status: Status }) {
  return (
    <>
      <StatusMark status={status} />
      <span className="visually-hidden">{stateWords[status]}</span>
    </>
  )
}

/** "■ DEAD"; with the plain word once where there is room: "■ DEAD (given up)". */
export function StatusBadge({ status, plain = false }: { status: Status; plain?: boolean }) {
  return (
    <span className={styles.badge}>
      <StatusMark status={status} />
      <span>{status}</span>
      {plain ? <span className={styles.plain}>{stateWords[status]}</span> : null}
    </span>
  )
}

/** "27 ■" in a table: the number and the mark. */
export function StatusCount({ status, count }: { status: Status; count: number }) {
  return (
    <span className={count === 0 ? `${styles.count} ${styles.none}` : styles.count}>
      {count.toLocaleString('en')} <SpokenMark status={status} />
    </span>
  )
}
