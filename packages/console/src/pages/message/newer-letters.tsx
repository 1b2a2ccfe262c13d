// Dead letters of the same key that stand behind this one: a retry might bring an older state after a newer one.

import { Link } from '@tanstack/react-router'
import { Notice, Section } from '../../components/show/page.tsx'
import { StatusBadge } from '../../components/show/status.tsx'
import { Time } from '../../components/show/time.tsx'
import type { MessageDetail } from '../../data/queries/messages.ts'
import styles from './message-page.module.css'

export function StaleNotice({ message: { staleness } }: { message: MessageDetail }) {
  if (staleness.advice === null) return null
  const { advice, superseded } = staleness
  return (
    <Notice look={superseded ? 'warning' : 'plain'}>
      <span>
        {advice.charAt(0).toUpperCase()}
        {advice.slice(1)}.
      </span>
    </Notice>
  )
}

export function NewerLetters({ message: { staleness } }: { message: MessageDetail }) {
  const { newer } = staleness
  if (newer.length === 0) return null
  return (
    <Section title="Newer ones of its key">
      <ul className={styles.newer}>
        {newer.map(({ id, status, original_offset, original_timestamp }) => (
          <li key={id}>
            <StatusBadge status={status} />
            <Link to="/messages/$id" params={{ id }} search={{}}>
              offset {original_offset}
            </Link>
            <Time at={original_timestamp} />
          </li>
        ))}
      </ul>
      {newer.length < 5 ? null : <p className={styles.quiet}>The first five; there may be more.</p>}
    </Section>
  )
}
