// dlq_positions: how far each partition of each DLQ topic is stored.

import type { Fragment, Sql } from '../sql.ts'

export type PartitionOf = { cluster: string; topic: string; partition: number }

export type Position = {
  next_offset: bigint
  /** Records below it are from before the topic's subscription, and are sent only when somebody asks. */
  manual_below: bigint | null
  /** Where the position was before somebody reset it: records below it may be stored already. */
  stored_below: bigint | null
  /** Of the leader that wrote the record before the position; null where that is not known. */
  leader_epoch: number | null
}

/**
 * Locks the partition's position until the transaction ends and returns it, with the next offset to store.
 * The lock makes a second writer of the same partition wait. It then sees what the first one has stored.
 */
export async function lockPosition(sql: Sql, { cluster, topic, partition }: PartitionOf): Promise<Position> {
  const [locked] = await sql<Position[]>`
    select next_offset, manual_below, stored_below, ${knownEpoch(sql)} from dlq.dlq_positions
    where cluster = ${cluster} and topic = ${topic} and partition = ${partition}
    for update`
  if (locked) return locked
  // Two writers may both find no row. The second one's insert waits for the first one's, and then only locks the row.
  const [made] = await sql<Position[]>`
    insert into dlq.dlq_positions (cluster, topic, partition, next_offset)
    values (${cluster}, ${topic}, ${partition}, 0)
    on conflict (cluster, topic, partition) do update set updated_at = now()
    returning next_offset, manual_below, stored_below, ${knownEpoch(sql)}`
  return made!
}

/** Whether message m is from before the subscription of its DLQ topic: it is sent only when somebody asks. */
export function isFromBefore(sql: Sql) {
  return sql`exists (
    select from dlq.dlq_positions p
    where p.cluster = m.dlq_cluster and p.topic = m.dlq_topic and p.partition = m.dlq_partition and m.dlq_offset < p.manual_below)`
}

/** Who sets a position by hand sets no epoch. */
function knownEpoch(sql: Sql) {
  return sql`case when epoch_offset = next_offset then leader_epoch end as leader_epoch`
}

/** `leader_epoch`: of the record before `next_offset`, or a later one that was there, too; null where it is not known. */
type NewPosition = PartitionOf & { next_offset: bigint; leader_epoch?: number | null }

/** The offset and the epoch that belongs to it, for `set`. */
function withEpoch(sql: Sql, { next_offset, leader_epoch = null }: Pick<NewPosition, 'next_offset' | 'leader_epoch'>) {
  return sql`
    next_offset = ${next_offset}, leader_epoch = ${leader_epoch}, epoch_offset = ${next_offset}, updated_at = now()`
}

/** Moves a locked position. Call it in the transaction that stores the records before it. */
export async function movePosition(sql: Sql, { cluster, topic, partition, ...to }: NewPosition): Promise<void> {
  await sql`
    update dlq.dlq_positions set ${withEpoch(sql, to)}
    where cluster = ${cluster} and topic = ${topic} and partition = ${partition}`
}

/**
 * Moves a position back to where Kafka has cut the log. Does so only while the position is the one that the caller saw.
 * False where another ingester was first.
 */
export async function cutPosition(
  sql: Sql,
  { cluster, topic, partition, seen_offset, ...to }: NewPosition & { seen_offset: bigint },
): Promise<boolean> {
  const moved = sql`
    update dlq.dlq_positions set ${withEpoch(sql, to)}
    where cluster = ${cluster} and topic = ${topic} and partition = ${partition} and next_offset = ${seen_offset}`
  return (await setBack(sql, moved)) > 0
}

/** Runs what may move positions back. Returns how many it has moved. */
async function setBack(sql: Sql, moving: Fragment): Promise<number> {
  // The oldest record that waits is another one now, and is searched only behind the one that was known.
  const result = await sql`
    with moved as (${moving} returning cluster, topic, partition),
    forgotten as (
      update dlq.dlq_topic_partitions k set unread_offset = null, unread_timestamp = null
      from moved where k.cluster = moved.cluster and k.topic = moved.topic and k.partition = moved.partition
    )
    select from moved`
  return result.count
}

/** The next offset of each partition that has a position. */
export async function listPositions(
  sql: Sql,
  { cluster, topics }: { cluster: string; topics: readonly string[] },
): Promise<(PartitionOf & { next_offset: bigint })[]> {
  return sql<(PartitionOf & { next_offset: bigint })[]>`
    select cluster, topic, partition, next_offset
    from dlq.dlq_positions
    where cluster = ${cluster} and topic = any(${sql.array([...topics])})`
}

/**
 * Begins a new generation of a partition at `next_offset`, after a topic was deleted and created again and its offsets
 * began again. Does so only while the position is the one that the caller saw, so that one of several ingesters does
 * it. False where another one was first.
 */
export async function beginGeneration(
  sql: Sql,
  { cluster, topic, partition, seen_offset, next_offset }: PartitionOf & { seen_offset: bigint; next_offset: bigint },
): Promise<boolean> {
  const moved = sql`
    update dlq.dlq_positions set
      generation = generation + 1, next_offset = ${next_offset}, manual_below = null, stored_below = null,
      leader_epoch = null, updated_at = now()
    where cluster = ${cluster} and topic = ${topic} and partition = ${partition} and next_offset = ${seen_offset}`
  return (await setBack(sql, moved)) > 0
}

/**
 * Sets the position of a partition, for people who want records read again or skipped. A record that is stored already,
 * or archived, is recognised by its id; a message that was deleted is stored again.
 */
export async function resetPosition(
  sql: Sql,
  { cluster, topic, partition, next_offset }: PartitionOf & { next_offset: bigint },
): Promise<void> {
  const moved = sql`
    insert into dlq.dlq_positions as p (cluster, topic, partition, next_offset)
    values (${cluster}, ${topic}, ${partition}, ${next_offset})
    on conflict (cluster, topic, partition) do update set
      next_offset = excluded.next_offset, stored_below = greatest(p.stored_below, p.next_offset), leader_epoch = null,
      updated_at = now()`
  await setBack(sql, moved)
}
