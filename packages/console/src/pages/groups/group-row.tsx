// One group of the inbox: a link with two lines.

import { Link } from '@tanstack/react-router'
import { GroupTitle } from '../../components/show/group-title.tsx'
import { Mark } from '../../components/show/mark.tsx'
import { StatusCount } from '../../components/show/status.tsx'
import { Strip } from '../../components/show/strip.tsx'
import { Time } from '../../components/show/time.tsx'
import type { ErrorGroup } from '../../data/queries/groups.ts'
import styles from './groups.module.css'

export function GroupRow({ group, current, onFocus }: { group: ErrorGroup; current: boolean; onFocus: () => void }) {
  return (
    <li>
      <Link
        to="/groups/$id"
        params={{ id: group.id }}
        className={styles.row}
        data-group-row
        data-current={current}
        onFocus={onFocus}
      >
        <span className={styles.title}>
          <GroupTitle
            title={group.title}
            errorClass={group.error_class}
            location={group.location}
            message={group.message}
          />
          {group.regressed ? <Mark look="warm">came back</Mark> : null}
          {group.state === 'open' ? null : <Mark>{group.state}</Mark>}
        </span>
        <span className={styles.under}>
          {group.message} · {group.dlq_topics.join(', ')}
          {group.note === null ? '' : ` · ${group.note}`}
        </span>
        <span className={styles.strip}>
          <Strip trend={group.trend} />
        </span>
        <span className={styles.counts}>
          <StatusCount status="DEAD" count={group.counts.DEAD} />
          <StatusCount status="PENDING" count={group.counts.PENDING + group.counts.RETRYING} />
          <StatusCount status="RESOLVED" count={group.counts.RESOLVED} />
        </span>
        <span className={styles.seen}>
          <Time at={group.last_seen_at} />
        </span>
        <span className={styles.owner}>{group.owner ?? 'nobody'}</span>
      </Link>
    </li>
  )
}
