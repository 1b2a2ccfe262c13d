// Compares what stands in Kafka, as two clients that are not ours read it, with what stands in the database.

import type postgres from 'postgres'
import { eventually } from '../eventually.ts'
import type { JavaProgram } from '../kafka/java.ts'
import { readHeaderWithKcat } from '../kafka/kcat.ts'
import { type ClusterFleet, retryDelayMs } from './cluster-fleet.ts'
import type { ClusterLoad } from './cluster-load.ts'
import type { KafkaCluster } from './kafka-cluster.ts'

type AuditOptions = {
  java: JavaProgram
  brokers: readonly string[]
  sql: postgres.Sql
  dlqTopic: string
  targetTopic: string
  /** "partition offset" of each dead letter that Kafka acknowledged → when. */
  acknowledged: ReadonlyMap<string, number>
  /** How long a stored message waits before it is sent. */
  retryDelayMs: number
}

export type Audit = {
  messages: number
  /** Acknowledged and not in Kafka, in Kafka and not in the database, or RESOLVED and not in Kafka. */
  lost: number
  /** Attempts that stand more than once in the target; by librdkafka null where kcat is not installed. */
  doubled: { java: number; librdkafka: number | null }
  /** Attempts beyond one for each message. */
  attemptsSpent: number
  unresolved: number
  /** The longest time from the acknowledgement to the row, and from being due to being published. */
  longestWaitMs: { stored: number; sent: number }
}

type Row = { id: string; partition: number; offset: string; status: string; retries: number; created: Date; sent: Date }

/** How many dead letters of a DLQ topic are stored, and how many of these are RESOLVED. */
export async function countStored(sql: postgres.Sql, dlqTopic: string): Promise<{ rows: number; resolved: number }> {
  const [row] = await sql<{ rows: number; resolved: number }[]>`
    select count(*)::int as rows, count(*) filter (where status = 'RESOLVED')::int as resolved
      from dlq.dlq_messages where dlq_topic = ${dlqTopic}`
  return row!
}

/** Waits until all that Kafka acknowledged of the load is stored and RESOLVED, and compares. */
export async function auditLoad(
  { cluster, java, sql }: Pick<ClusterFleet, 'java' | 'sql'> & { cluster: Pick<KafkaCluster, 'brokers'> },
  load: ClusterLoad,
  topics: Pick<AuditOptions, 'dlqTopic' | 'targetTopic'>,
): Promise<Audit> {
  await eventually(async () => {
    const { rows, resolved } = await countStored(sql, topics.dlqTopic)
    if (rows < load.acknowledged() || resolved !== rows)
      throw new Error(`${load.acknowledged()} acknowledged, ${rows} stored, ${resolved} RESOLVED`)
  })
  return auditCluster({ ...topics, java, sql, brokers: cluster.brokers, acknowledged: load.times, retryDelayMs })
}

async function auditCluster(options: AuditOptions): Promise<Audit> {
  const { java, brokers, sql, dlqTopic, targetTopic, acknowledged, retryDelayMs } = options
  const rows = await sql<Row[]>`
    select m.id, m.dlq_partition as partition, m.dlq_offset as offset, m.status, m.retry_count as retries,
           m.created_at as created, max(a.settled_at) as sent
      from dlq.dlq_messages m
      left join dlq.dlq_attempts a on a.message_id = m.id
     where m.dlq_topic = ${dlqTopic}
     group by m.id, m.dlq_partition, m.dlq_offset, m.status, m.retry_count, m.created_at`
  const attempts = await sql<{ attempt_id: string }[]>`
    select a.attempt_id from dlq.dlq_attempts a join dlq.dlq_messages m on m.id = a.message_id
     where m.dlq_topic = ${dlqTopic} and a.outcome = 'published'`
  const stored = new Map(rows.map((row) => [`${row.partition} ${row.offset}`, row]))
  const inDlq = await readByJava(java, brokers, { topic: dlqTopic, header: '-' })
  const places = new Set(inDlq.map(({ place }) => place))
  // A marker may be a moment later than the answer to a commit.
  const published = await eventually(async () => {
    const records = await readByJava(java, brokers, { topic: targetTopic, header: 'dlq-attempt-id' })
    if (records.length < attempts.length) throw new Error(`${records.length} of ${attempts.length} can be read`)
    return records
  }).catch(() => readByJava(java, brokers, { topic: targetTopic, header: 'dlq-attempt-id' }))
  const ids = published.map(({ value }) => value)
  const seen = new Set(ids)
  const byKcat = await readHeaderWithKcat(brokers, targetTopic, 'dlq-attempt-id')
  return {
    messages: rows.length,
    lost:
      [...acknowledged.keys()].filter((place) => !places.has(place)).length +
      [...places].filter((place) => !stored.has(place)).length +
      attempts.filter(({ attempt_id }) => !seen.has(attempt_id)).length,
    doubled: {
      java: ids.length - seen.size,
      librdkafka: byKcat && byKcat.length - new Set(byKcat).size + Math.abs(byKcat.length - ids.length),
    },
    attemptsSpent: rows.reduce((sum, { retries }) => sum + Math.max(0, retries - 1), 0),
    unresolved: rows.filter(({ status }) => status !== 'RESOLVED').length,
    longestWaitMs: {
      stored: longest(rows.map((row) => Number(row.created) - acknowledgedAt(row))),
      sent: longest(rows.map(({ created, sent }) => Number(sent) - Number(created) - retryDelayMs)),
    },
  }

  function acknowledgedAt({ partition, offset, created }: Row): number {
    return acknowledged.get(`${partition} ${offset}`) ?? Number(created)
  }
}

async function readByJava(
  java: JavaProgram,
  brokers: readonly string[],
  { topic, header }: { topic: string; header: string },
): Promise<{ place: string; value: string }[]> {
  const output = await java.run(['read', brokers.join(), header, topic])
  const lines = output.split('\n').filter((line) => line !== '')
  return lines.map((line) => {
    const [, partition, offset, value = ''] = line.split(' ')
    return { place: `${partition} ${offset}`, value }
  })
}

/** Without a spread: there may be more of them than a call takes arguments. */
function longest(waits: readonly number[]): number {
  return waits.reduce((most, wait) => Math.max(most, wait), 0)
}
