// dlq_positions: how far each partition of each DLQ topic is stored.

import type { Sql } from './sql.ts'

export type PartitionOf = { cluster: string; topic: string; partition: number }

/**
 * Locks the partition's position until the transaction ends and returns the next offset to store.
 * The lock makes a second writer of the same partition wait, and then see what is already stored.
 */
export async function lockPosition(sql: Sql, { cluster, topic, partition }: PartitionOf): Promise<bigint> {
  const [locked] = await sql<{ next_offset: bigint }[]>`
    select next_offset from dlq.dlq_positions
    where cluster = ${cluster} and topic = ${topic} and partition = ${partition}
    for update`
  if (locked) return locked.next_offset
  // Two writers may both find nothing; the second one's insert waits for the first and then only locks.
  const [made] = await sql<{ next_offset: bigint }[]>`
    insert into dlq.dlq_positions (cluster, topic, partition, next_offset)
    values (${cluster}, ${topic}, ${partition}, 0)
    on conflict (cluster, topic, partition) do update set updated_at = now()
    returning next_offset`
  return made!.next_offset
}

/** Moves a locked position. Belongs into the transaction that stores the records before it. */
export async function movePosition(
  sql: Sql,
  { cluster, topic, partition, nextOffset }: PartitionOf & { nextOffset: bigint },
): Promise<void> {
  await sql`
    update dlq.dlq_positions set next_offset = ${nextOffset}, updated_at = now()
    where cluster = ${cluster} and topic = ${topic} and partition = ${partition}`
}

/** The next offset of each partition that has a position. */
export async function listPositions(
  sql: Sql,
  { cluster, topics }: { cluster: string; topics: readonly string[] },
): Promise<(PartitionOf & { nextOffset: bigint })[]> {
  return sql<(PartitionOf & { nextOffset: bigint })[]>`
    select cluster, topic, partition, next_offset as "nextOffset"
    from dlq.dlq_positions
    where cluster = ${cluster} and topic = any(${sql.array([...topics])})`
}

/**
 * Starts a partition over: a new generation, from `nextOffset` on. For a topic that was deleted and made
 * anew, whose offsets begin again. Only where the position still is what the caller saw, so that of several
 * ingesters one does it. False where it is not.
 */
export async function beginGeneration(
  sql: Sql,
  { cluster, topic, partition, seenOffset, nextOffset }: PartitionOf & { seenOffset: bigint; nextOffset: bigint },
): Promise<boolean> {
  const result = await sql`
    update dlq.dlq_positions set generation = generation + 1, next_offset = ${nextOffset}, updated_at = now()
    where cluster = ${cluster} and topic = ${topic} and partition = ${partition} and next_offset = ${seenOffset}`
  return result.count > 0
}

/**
 * Sets where a partition is read next, for people who want records read again or skipped. What is stored
 * already is met by its id; a message that was deleted comes back.
 */
export async function resetPosition(
  sql: Sql,
  { cluster, topic, partition, nextOffset }: PartitionOf & { nextOffset: bigint },
): Promise<void> {
  await sql`
    insert into dlq.dlq_positions (cluster, topic, partition, next_offset)
    values (${cluster}, ${topic}, ${partition}, ${nextOffset})
    on conflict (cluster, topic, partition) do update set next_offset = excluded.next_offset, updated_at = now()`
}
