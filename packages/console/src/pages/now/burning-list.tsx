// The open error groups, the hottest first. A row is one link: to the group, where the newest message is open.

import { Link } from '@tanstack/react-router'
import { GroupTitle } from '../../components/show/group-title.tsx'
import { Mark } from '../../components/show/mark.tsx'
import { StatusCount } from '../../components/show/status.tsx'
import { Strip } from '../../components/show/strip.tsx'
import { Time } from '../../components/show/time.tsx'
import type { ErrorGroup } from '../../data/queries/groups.ts'
import { type Heat, heatMeaning } from '../../domain/groups/heat.ts'
import { counted } from '../../domain/words.ts'
import styles from './now.module.css'

type Row = { group: ErrorGroup; heat: Heat }

export function BurningList({ rows, more }: { rows: readonly Row[]; more: number }) {
  return (
    <>
      <ul className={styles.burning}>
        {rows.map(({ group, heat }) => (
          <li key={group.id}>
            <Link to="/groups/$id" params={{ id: group.id }} className={styles.row}>
              <span className={styles.title}>
                <GroupTitle
                  title={group.title}
                  errorClass={group.error_class}
                  location={group.location}
                  message={group.message}
                />
                <HeatMark heat={heat} />
                {group.regressed ? <Mark look="warm">came back</Mark> : null}
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
              </span>
              <span className={styles.seen}>
                <Time at={group.last_seen_at} />
              </span>
              <span className={styles.owner}>{group.owner ?? 'nobody'}</span>
            </Link>
          </li>
        ))}
      </ul>
      {more > 0 ? <p className={styles.quiet}>and {counted(more, 'quieter group')}</p> : null}
    </>
  )
}

function HeatMark({ heat }: { heat: Heat }) {
  if (heat === 'steady') return null
  return (
    <Mark look={heat === 'quiet' ? 'plain' : heat === 'new' ? 'warm' : 'hot'} title={heatMeaning[heat]}>
      {heat.includes('rising') ? '▲ ' : ''}
      {heat}
    </Mark>
  )
}
