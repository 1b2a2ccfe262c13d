// An error group in a list: one link of two lines, to the group, where its newest message is open.

import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { ErrorGroup } from '../../data/queries/groups.ts'
import { DirectedText } from '../show/directed-text.tsx'
import { GroupTitle } from '../show/group-title.tsx'
import { Mark } from '../show/mark.tsx'
import { StatusCount } from '../show/status.tsx'
import { Strip } from '../show/strip.tsx'
import { Time } from '../show/time.tsx'
import styles from './group-line.module.css'

type Props = {
  group: ErrorGroup
  /** Before and after those of every list: that it came back, that its retries are paused. */
  marks: { before?: ReactNode; after?: ReactNode }
  /** Also how many were sent. */
  withResolved?: boolean
  /** The row that keys act on. */
  row?: { current: boolean; onFocus: () => void }
}

export function GroupLine({ group, marks, withResolved = false, row }: Props) {
  return (
    <Link
      to="/groups/$id"
      params={{ id: group.id }}
      className={styles.row}
      data-counts={withResolved ? 3 : 2}
      {...(row && { 'data-group-row': true, 'data-current': row.current, onFocus: row.onFocus })}
    >
      <span className={styles.title}>
        <span className={styles.name}>
          <GroupTitle
            title={group.title}
            errorClass={group.error_class}
            location={group.location}
            message={group.message}
          />
        </span>
        {marks.before}
        {group.regressed ? <Mark look="warm">came back</Mark> : null}
        {group.pauses.length > 0 ? <Mark look="warm">retries paused</Mark> : null}
        {marks.after}
      </span>
      <span className={styles.under}>
        {/* Where no place in the code is known, the title says it already. */}
        {group.message === '' || group.location === null ? null : (
          <>
            <bdi>
              <DirectedText text={group.message} />
            </bdi>{' '}
            ·{' '}
          </>
        )}
        {group.dlq_topics.join(', ')}
        {group.note === null ? null : (
          <>
            {' '}
            ·{' '}
            <bdi>
              <DirectedText text={group.note} />
            </bdi>
          </>
        )}
      </span>
      <span className={styles.strip}>
        <Strip trend={group.trend} />
      </span>
      <span className={styles.counts}>
        <StatusCount status="DEAD" count={group.counts.DEAD} />
        <StatusCount status="PENDING" count={group.counts.PENDING + group.counts.RETRYING} />
        {withResolved ? <StatusCount status="RESOLVED" count={group.counts.RESOLVED} /> : null}
      </span>
      <span className={styles.seen}>
        <Time at={group.last_seen_at} />
      </span>
      <span className={styles.owner}>{group.owner ?? 'nobody'}</span>
    </Link>
  )
}
