// dlq_staleness_cursors: how far the partitions of original topics were read for their open messages. A retrier leases
// all of a topic that is due, and writes only while it has the lease.

import type { Sql } from '../sql.ts'

export type Cursor = {
  original_topic: string
  partition: number
  /** Null before the first look. */
  position: bigint | null
  topic_id: string | null
  topic_partitions: number | null
  counted_from: bigint | null
  counted_at: Date | null
  recreated_at: Date | null
}

/** Leases the cursors of the topic that has been due for longest; none where nothing is due. */
export async function takeCursors(
  sql: Sql,
  { lease, leaseMs, limit }: { lease: string; leaseMs: number; limit: number },
): Promise<Cursor[]> {
  return sql<Cursor[]>`
    with due as materialized (
      select original_topic, partition from dlq.dlq_staleness_cursors
      where look_due_at <= now()
        and original_topic = (
          select original_topic from dlq.dlq_staleness_cursors where look_due_at <= now() order by look_due_at limit 1)
      order by partition
      limit ${limit}
      for update skip locked
    )
    update dlq.dlq_staleness_cursors c set lease = ${lease}, look_due_at = now() + ${leaseMs}::float8 * interval '1 ms'
    from due where c.original_topic = due.original_topic and c.partition = due.partition
    returning c.original_topic, c.partition, c.position, c.topic_id, c.topic_partitions, c.counted_from, c.counted_at, c.recreated_at`
}

type Place = Pick<Cursor, 'original_topic' | 'partition'>

/** Makes the lease last longer, or ends it. Locks the cursor. False where another retrier has it. */
export async function keepCursor(
  sql: Sql,
  { original_topic, partition, lease, dueMs, ends }: Place & { lease: string; dueMs: number; ends: boolean },
): Promise<boolean> {
  const result = await sql`
    update dlq.dlq_staleness_cursors set
      look_due_at = now() + ${dueMs}::float8 * interval '1 ms', lease = case when ${ends} then null else lease end
    where original_topic = ${original_topic} and partition = ${partition} and lease = ${lease}`
  return result.count > 0
}

/** Writes how far the partition was read, as of `looked_at`, by the clock of the database. */
export async function writeCursor(sql: Sql, cursor: Cursor & { looked_at: Date }): Promise<void> {
  const { original_topic, partition, ...rest } = cursor
  await sql`
    update dlq.dlq_staleness_cursors set ${sql(rest)}
    where original_topic = ${original_topic} and partition = ${partition}`
}

/** Forgets a partition and what was found in it: no policy asks any more. */
export async function forgetCursor(
  sql: Sql,
  { original_topic, partition, lease }: Place & { lease: string },
): Promise<void> {
  await sql`
    with gone as (
      delete from dlq.dlq_staleness_cursors
      where original_topic = ${original_topic} and partition = ${partition} and lease = ${lease}
      returning original_topic, partition
    )
    delete from dlq.dlq_staleness s using gone where s.original_topic = gone.original_topic and s.partition = gone.partition`
}
