// What burns, what runs, what is about to be lost. The sentence on top answers; the rows below it are the evidence.

import { useQuery } from '@tanstack/react-query'
import { FaultText } from '../../components/show/fault.tsx'
import { Empty, PageHead, Section, Skeleton, Verdict } from '../../components/show/page.tsx'
import { faultOf } from '../../data/faults.ts'
import { useLive, useNow, useSlow } from '../../data/live.ts'
import { openGroupsQuery } from '../../data/queries/groups.ts'
import { activeRunsQuery } from '../../data/queries/runs.ts'
import { statusQuery } from '../../data/queries/status.ts'
import { byHeat } from '../../domain/groups/heat.ts'
import { nowVerdict } from '../../domain/now-verdict.ts'
import { counted } from '../../domain/words.ts'
import { BurningList } from './burning-list.tsx'
import { FleetColumns } from './fleet-columns.tsx'
import styles from './now.module.css'
import { TopicTable } from './topic-table.tsx'

const maxRows = 20

export function NowPage() {
  const live = useLive(5000)
  const status = useQuery({ ...statusQuery, refetchInterval: live })
  const groups = useQuery({ ...openGroupsQuery({ trend: false }), refetchInterval: live })
  const trends = useQuery({ ...openGroupsQuery({ trend: true }), refetchInterval: useLive(60_000) })
  const runs = useQuery(activeRunsQuery)
  const now = useNow()
  const slow = useSlow(status.isPending)

  const trendOf = new Map(trends.data?.groups.map(({ id, trend }) => [id, trend]))
  const open = groups.data?.groups.map((group) => ({ ...group, trend: trendOf.get(group.id) ?? null }))
  const burning = open === undefined ? null : byHeat(open, now)
  const sentences = status.data && nowVerdict(status.data, burning?.map(({ heat }) => heat) ?? null, now)
  const stale = status.isError || groups.isError
  const nothing = status.data?.dlq_topics === 0 && (burning?.length ?? 0) === 0
  const dead = status.data?.counts.DEAD ?? 0
  const hot = burning?.filter(({ heat }) => heat !== 'quiet').length ?? 0

  return (
    <>
      <PageHead
        title="Now"
        documentTitle={dead > 0 || hot > 0 ? `${dead} DEAD · ${counted(hot, 'group burns', 'groups burn')}` : 'Now'}
        hidden
      >
        {sentences === undefined ? null : (
          <Verdict dim={stale}>
            {sentences.map(({ text, severity }) => (
              <span key={text} className={styles[severity]}>
                {text}{' '}
              </span>
            ))}
          </Verdict>
        )}
      </PageHead>
      {status.error === null ? null : (
        <FaultText
          fault={faultOf(status.error)}
          what={status.data === undefined ? 'The state cannot be read' : 'What is shown is the last that was known'}
          readAt={status.dataUpdatedAt}
          onRetry={() => void status.refetch()}
        />
      )}
      {slow && status.data === undefined ? <Skeleton rows={6} tall /> : null}
      {nothing ? <FirstTopic /> : null}
      {burning === null || nothing ? null : (
        <Section title="Burning" aside={<span>last 24 h · waiting and given up · last seen</span>}>
          {burning.length === 0 ? (
            <Empty>
              <p>
                No dead letters are open. {counted(status.data?.dlq_topics ?? 0, 'DLQ topic is', 'DLQ topics are')}{' '}
                read.
              </p>
            </Empty>
          ) : (
            <BurningList rows={burning.slice(0, maxRows)} more={burning.length - maxRows} />
          )}
        </Section>
      )}
      {status.data === undefined ? null : (
        <>
          <FleetColumns status={status.data} runs={runs.data ?? []} now={now} />
          <TopicTable topics={status.data.topics} />
        </>
      )}
    </>
  )
}

function FirstTopic() {
  return (
    <Empty>
      <p>No DLQ topic has been found yet. The ingester reads every topic whose name looks like one, as these do:</p>
      <pre>
        orders.dlq.v1{'\n'}orders-dlt{'\n'}orders.DLQ
      </pre>
      <p>
        Other names are given by <code>kafka.dlq_topics</code> in the configuration. The first dead letter appears here
        within seconds after it is written.
      </p>
    </Empty>
  )
}
