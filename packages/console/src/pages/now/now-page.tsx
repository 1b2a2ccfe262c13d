// What burns, what runs, what is about to be lost. The sentence on top answers; the rows below it are the evidence.

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { DirectedText } from '../../components/show/directed-text.tsx'
import { LastKnown, QueryFault } from '../../components/show/fault.tsx'
import { Empty, PageHead, Section, Skeleton, Verdict } from '../../components/show/page.tsx'
import { useLive, useNow, useSlow } from '../../data/live.ts'
import { openGroupsQuery } from '../../data/queries/groups.ts'
import { activeRunsQuery } from '../../data/queries/runs.ts'
import { useStatus } from '../../data/queries/status.ts'
import { meQuery } from '../../data/session.ts'
import { burningOf, burningWords } from '../../domain/groups/burning.ts'
import { nowVerdict } from '../../domain/now-verdict.ts'
import { openOf, stateWords } from '../../domain/states.ts'
import { noneSeenWords } from '../../domain/topics/seen-words.ts'
import { counted } from '../../domain/words.ts'
import { BurningList } from './burning-list.tsx'
import { FleetColumns } from './fleet-columns.tsx'
import styles from './now.module.css'
import { TopicTable } from './topic-table.tsx'

const maxRows = 20

export function NowPage() {
  const live = useLive(5000)
  const status = useStatus()
  const groups = useQuery({ ...openGroupsQuery({ trend: false }), refetchInterval: live })
  const trends = useQuery({ ...openGroupsQuery({ trend: true }), refetchInterval: useLive(60_000) })
  const runs = useQuery(activeRunsQuery)
  const now = useNow()
  // What stands below the groups waits for them: they would push it down.
  const waits = status.isPending || groups.isPending
  const slow = useSlow(waits)

  const trendOf = new Map(trends.data?.groups.map(({ id, trend }) => [id, trend]))
  const withTrends = groups.data?.groups.map((group) => ({ ...group, trend: trendOf.get(group.id) ?? null }))
  const open = groups.data && burningOf({ ...groups.data, groups: withTrends ?? [] }, now)
  const sentences = status.data && nowVerdict(status.data, open ?? null, now)
  const stale = status.isError || groups.isError
  const nothing = status.data?.dlq_topics === 0 && (open?.rows.length ?? 0) === 0
  const dead = status.data?.counts.DEAD ?? 0
  const hot = open?.burning ?? 0

  return (
    <>
      <PageHead
        title="Now"
        documentTitle={dead > 0 || hot > 0 ? `${dead} DEAD${open ? ` · ${burningWords(open)}` : ''}` : 'Now'}
        hidden
      >
        <Verdict dim={stale}>
          {sentences?.map(({ text, severity }) => (
            <span key={text} className={styles[severity]}>
              <DirectedText text={text} />{' '}
            </span>
          ))}
        </Verdict>
      </PageHead>
      {status.data === undefined ? <QueryFault query={status} what="The state cannot be read" /> : null}
      <LastKnown query={status.isError ? status : groups} />
      {groups.data === undefined ? <QueryFault query={groups} what="The error groups cannot be read" /> : null}
      {slow && open === undefined ? <Skeleton rows={6} tall /> : null}
      {nothing ? <FirstTopic /> : null}
      {open === undefined || nothing ? null : (
        <Section
          title="Burning"
          aside={
            <span>
              last 24 h · {stateWords.DEAD} · {stateWords.PENDING} · last seen
            </span>
          }
        >
          {open.rows.length === 0 ? (
            <Empty>
              <p>
                {status.data === undefined || openOf(status.data.counts) > 0
                  ? 'No error group burns.'
                  : `No dead letters are open. ${counted(status.data.dlq_topics, 'DLQ topic is', 'DLQ topics are')} read.`}
              </p>
            </Empty>
          ) : (
            <BurningList rows={open.rows.slice(0, maxRows)} />
          )}
          <MoreGroups count={open.open - Math.min(open.rows.length, maxRows)} />
        </Section>
      )}
      {waits || status.data === undefined ? null : (
        <>
          <FleetColumns status={status.data} runs={runs.data ?? null} now={now} />
          <TopicTable topics={status.data.topics} />
        </>
      )}
    </>
  )
}

function MoreGroups({ count }: { count: number }) {
  if (count <= 0) return null
  return (
    <p className={styles.quiet}>
      <Link to="/groups">{counted(count, 'more group is open', 'more groups are open')}</Link> ·{' '}
      <Link to="/groups" search={{ sort: 'dead' }}>
        those with the most DEAD first
      </Link>
    </p>
  )
}

function FirstTopic() {
  const noneSeen = noneSeenWords(useQuery(meQuery).data?.topics ?? null, 'dlq')
  if (noneSeen !== null)
    return (
      <Empty>
        <p>{noneSeen}</p>
      </Empty>
    )
  return (
    <Empty>
      <p>
        No DLQ topic has been found yet. The ingester reads the topics whose names match{' '}
        <code>kafka.dlq_topic_pattern</code> of the configuration: <code>*.dlq.v1</code>, unless it says otherwise. The
        first dead letter appears here within seconds after it is written.
      </p>
      <p>
        Other names that look like those of DLQ topics, such as <code>orders-dlt</code> or <code>orders.DLQ</code>, are
        listed under <Link to="/topics">Topics</Link>. They are read once an administrator has said so there.
      </p>
    </Empty>
  )
}
