// Beside what burns: what runs, what is about to be lost unread, and who does the work.

import { Link } from '@tanstack/react-router'
import { DirectedText } from '../../components/show/directed-text.tsx'
import { Section } from '../../components/show/page.tsx'
import { ProgressBar } from '../../components/show/progress.tsx'
import { Time } from '../../components/show/time.tsx'
import type { Run } from '../../data/queries/runs.ts'
import type { Status } from '../../data/queries/status.ts'
import { perMinute } from '../../domain/now-verdict.ts'
import { partsOf, progressWords, runTitle } from '../../domain/runs.ts'
import { spanText } from '../../domain/time.ts'
import { counted, publishWords } from '../../domain/words.ts'
import styles from './now.module.css'

/** After this, the loss clock is old: no ingester looks any more. */
const staleMs = 60_000

type Props = {
  status: Status
  /** Null while they are not known. */
  runs: readonly Run[] | null
  now: number
}

export function FleetColumns({ status, runs, now }: Props) {
  const losing = status.loss_clock.slice(0, 4)
  return (
    <div className={styles.columns}>
      <Section title="Running">
        {runs?.length === 0 ? <p className={styles.quiet}>No run is active.</p> : null}
        <ul className={styles.facts}>
          {runs?.slice(0, 5).map((run) => (
            <li key={run.id}>
              <Link to="/runs/$id" params={{ id: run.id }}>
                {runTitle(run)}
              </Link>
              <ProgressBar parts={partsOf(run)} label={progressWords(run)} small />
              <span className={styles.quiet}>{progressWords(run)}</span>
            </li>
          ))}
        </ul>
      </Section>
      <Section title="Losing time">
        {losing.length === 0 ? <p className={styles.quiet}>Nothing waits unread.</p> : null}
        <ul className={styles.facts}>
          {losing.map(({ topic, cluster, loss, lag, looked_at }) => (
            <li key={`${cluster} ${topic}`}>
              <strong>{topic}</strong>
              <span>{loss ?? `${counted(lag, 'record')} wait unread`}</span>
              {looked_at !== null && now - Date.parse(looked_at) > staleMs ? (
                <span className={styles.look}>
                  Nobody has looked for {spanText(now - Date.parse(looked_at))}: is an ingester running?
                </span>
              ) : null}
            </li>
          ))}
        </ul>
      </Section>
      <Section title="Fleet">
        <ul className={styles.facts}>
          <li>
            {status.retriers.length === 0
              ? 'No retrier is running.'
              : `${counted(status.retriers.length, 'retrier')} · ${[...new Set(status.retriers.map((one) => publishWords[one.publishes]))].join(', ')}`}
          </li>
          {status.retriers
            .filter(({ fault }) => fault !== null)
            .map(({ id, fault }) => (
              <li key={id} className={styles.look}>
                {id}: <DirectedText text={fault ?? ''} />
              </li>
            ))}
          <li>
            {counted(status.dlq_topics, 'DLQ topic')} read · {perMinute(status.ingest.per_minute)} · last stored{' '}
            <Time at={status.stored_at} none="never" />
          </li>
          <li>
            sent {perMinute(status.retry.per_minute)} · refused {perMinute(status.retry.refused_per_minute)}
          </li>
          {status.paused_groups === 0 ? null : (
            <li>{counted(status.paused_groups, 'group is', 'groups are')} paused and probed</li>
          )}
          {status.held_topics.map(({ topic, reason, since }) => (
            <li key={topic} className={styles.look}>
              {topic} is held since <Time at={since} />: <DirectedText text={reason} />
            </li>
          ))}
        </ul>
      </Section>
    </div>
  )
}
