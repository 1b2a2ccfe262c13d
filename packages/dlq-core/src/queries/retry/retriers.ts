// dlq_retriers: which retriers live, and whether they can publish.

import type { Sql } from './sql.ts'

export type Publishes = 'exactly-once' | 'at-least-once' | 'resolve' | 'nothing'

/** Writes that the retrier lives. */
export async function noteRetrier(
  sql: Sql,
  { id, publishes, fault }: { id: string; publishes: Publishes; fault: string | null },
): Promise<void> {
  await sql`
    insert into dlq.dlq_retriers (id, publishes, fault) values (${id}, ${publishes}, ${fault})
    on conflict (id) do update set publishes = excluded.publishes, fault = excluded.fault, seen_at = now()`
}

/** Takes the retrier off the list, and those that were not seen for a day. */
export async function forgetRetrier(sql: Sql, id: string): Promise<void> {
  await sql`delete from dlq.dlq_retriers where id = ${id} or seen_at < now() - interval '1 day'`
}

/** Takes those off the list that were not seen for a day. Returns how many. */
export async function forgetDeadRetriers(sql: Sql): Promise<number> {
  const result = await sql`delete from dlq.dlq_retriers where seen_at < now() - interval '1 day'`
  return result.count
}

/**
 * Whether retriers live, but none that has a Kafka. Where none lives at all the answer is false: one
 * that is being replaced will publish what is asked for meanwhile.
 */
export async function isWithoutKafka(sql: Sql, { aliveMs }: { aliveMs: number }): Promise<boolean> {
  const [row] = await sql<{ without_kafka: boolean }[]>`
    select coalesce(bool_and(publishes = 'nothing'), false) as without_kafka
    from dlq.dlq_retriers where seen_at > now() - ${aliveMs}::int * interval '1 ms'`
  return row!.without_kafka
}
