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
export async function movePosition(sql: Sql, { cluster, topic, partition, nextOffset }: PartitionOf & { nextOffset: bigint }): Promise<void> {
  await sql`
    update dlq.dlq_positions set next_offset = ${nextOffset}, updated_at = now()
    where cluster = ${cluster} and topic = ${topic} and partition = ${partition}`
}

/** The next offset of each partition that has a position. */
export async function listPositions(sql: Sql, { cluster, topics }: { cluster: string; topics: readonly string[] }): Promise<(PartitionOf & { nextOffset: bigint })[]> {
  return sql<(PartitionOf & { nextOffset: bigint })[]>`
    select cluster, topic, partition, next_offset as "nextOffset"
    from dlq.dlq_positions
    where cluster = ${cluster} and topic = any(${sql.array([...topics])})`
}
