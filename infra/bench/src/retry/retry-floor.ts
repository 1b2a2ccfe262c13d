// The floors of the retrier: the same records sent by a bare producer, and the same rows claimed and
// settled by bare SQL. Both leave out fairness and the handling of faults.

import type { Database } from 'dlq-core/runtime/database/database.ts'
import type { Kafka } from 'kafkajs'
import { type Measurement, measureFloor } from '../measure/measure.ts'

export type FloorRecord = { topic: string; key: Buffer; value: Buffer; headers: [string, Buffer | null][] }

// The same as the retrier's, or every transaction would wait 300 ms for the previous one.
const retry = { initialRetryTime: 4, multiplier: 1.5, maxRetryTime: 200, retries: 60 }

/** The first `warm` rows are not measured. Both are multiples of `batchSize`. */
type Floor = { warm: number; measured: number; batchSize: number; postgresPid: number | undefined }

/** Sends the records, `batchSize` per transaction. */
export async function measureProducer(
  kafka: Kafka,
  { records, warm, measured, batchSize, postgresPid }: Floor & { records: readonly FloorRecord[] },
): Promise<Measurement> {
  const producer = kafka.producer({
    transactionalId: `bench-${process.pid}`,
    maxInFlightRequests: 1,
    allowAutoTopicCreation: false,
    retry,
  })
  await producer.connect()
  const send = async (records: readonly FloorRecord[]) => {
    for (let start = 0; start < records.length; start += batchSize) {
      const byTopic = Map.groupBy(records.slice(start, start + batchSize), ({ topic }) => topic)
      const topicMessages = [...byTopic].map(([topic, messages]) => ({ topic, messages }))
      const transaction = await producer.transaction()
      await transaction.sendBatch({ acks: -1, topicMessages })
      await transaction.commit()
    }
  }
  try {
    await send(records.slice(0, warm))
    return await measureFloor(() => send(records.slice(warm)), { total: measured, postgresPid })
  } finally {
    await producer.disconnect()
  }
}

/** Claims every due message and settles it, `batchSize` at a time, on each of the connections. */
export async function measureClaimAndSettle(
  sql: Database,
  { warm, measured, batchSize, connections, postgresPid }: Floor & { connections: number },
): Promise<Measurement> {
  const work = async (total: number) => {
    let left = total / batchSize
    const connection = async () => {
      while (left-- > 0) await claimAndSettle(sql, batchSize)
    }
    await Promise.all(Array.from({ length: connections }, connection))
  }
  await work(warm)
  return measureFloor(() => work(measured), { total: measured, postgresPid })
}

async function claimAndSettle(sql: Database, limit: number): Promise<void> {
  const claimed = await sql<{ id: string }[]>`
    with due as materialized (
      select id from dlq.dlq_messages
      where status = 'PENDING' and next_retry_at <= now()
      limit ${limit}
      for update skip locked
    )
    update dlq.dlq_messages m set
      status = 'RETRYING', retry_count = m.retry_count + 1, last_retry_at = now(), lease_until = now() + interval '1 minute'
    from due where m.id = due.id
    returning m.id, m.original_topic, m.record_key, m.record_value, m.record_headers`
  const ids = claimed.map(({ id }) => id)
  if (ids.length === 0) throw new Error('nothing is due any more')
  await sql.begin(async (sql) => {
    await sql`
      update dlq.dlq_messages set status = 'RESOLVED', next_retry_at = null, lease_until = null
      where id = any(${sql.array(ids)}::uuid[])`
    await sql`
      insert into dlq.dlq_attempts (message_id, number, attempt_id, outcome, settled_at)
      select id, 1, id, 'published', now() from unnest(${sql.array(ids)}::uuid[]) as id`
  })
}
