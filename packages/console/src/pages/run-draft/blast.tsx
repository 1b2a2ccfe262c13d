// Whom a retry would reach: the groups that read each target topic, and how long the records would keep them busy.

import { Mark } from '../../components/show/mark.tsx'
import { Time } from '../../components/show/time.tsx'
import type { Blast as Reach } from '../../data/queries/runs.ts'
import { amountWords, busyWords, reachWords, readerWords, staleWords } from '../../domain/blast-words.ts'
import styles from './draft.module.css'

export function Blast({ blast: { as_of, targets } }: { blast: Reach }) {
  if (targets.length === 0) return null
  return (
    <div className={styles.share}>
      <h3>Who reads it</h3>
      {targets.map(({ topic, messages, bytes, groups, gone_groups, staleness, produced_per_second }) => (
        <div key={topic} className={styles.target}>
          <p>
            <strong>{topic}</strong> {amountWords(messages, bytes, produced_per_second)}
          </p>
          {groups.length === 0 ? (
            <p className={styles.quiet}>No consumer group is known to read it{as_of === null ? ' yet' : ''}.</p>
          ) : (
            <ul className={styles.lines} aria-label={`Groups that read ${topic}`}>
              {groups.map((group) => (
                <li key={group.group}>
                  <span>
                    {group.group}{' '}
                    <Mark look={group.role === 'bystander' ? 'warm' : 'plain'}>
                      {group.role === 'bystander' ? 'gets it too' : 'failed on it'}
                    </Mark>
                    <span className={styles.under}>{readerWords(group)}</span>
                  </span>
                  <span data-slow={group.catches_up === false}>{busyWords(group)}</span>
                </li>
              ))}
            </ul>
          )}
          {gone_groups === 0 ? null : <p className={styles.quiet}>{reachWords(gone_groups)}</p>}
          <Stale staleness={staleness} />
        </div>
      ))}
      <p className={styles.quiet}>
        {as_of === null ? (
          'Retriers have not looked at the groups yet. '
        ) : (
          <>
            Groups were looked at <Time at={as_of} />.{' '}
          </>
        )}
        Readers that commit nothing are not seen.
      </p>
    </div>
  )
}

function Stale({ staleness }: Pick<Reach['targets'][number], 'staleness'>) {
  const words = staleWords(staleness)
  return words === null ? null : (
    <p>
      <Mark look="warm">older</Mark> {words}
    </p>
  )
}
