// dlq_retriers: which retriers live, whether they can publish, and which topics they hold.

import { type Sql, toJson } from '../sql.ts'

/** A topic that a retrier only probes, because records for it are refused, or Kafka cannot take them now. */
export type HeldTopic = { topic: string; reason: string; since: Date }

/** The topics that a retrier names at most, and the characters of a reason. */
const maxHeldTopics = 100
const maxReason = 500

export type Publishes = 'exactly-once' | 'at-least-once' | 'resolve' | 'nothing'

/** Stores that the retrier is alive. */
export async function noteRetrier(
  sql: Sql,
  {
    id,
    publishes,
    fault,
    held = [],
  }: { id: string; publishes: Publishes; fault: string | null; held?: readonly HeldTopic[] },
): Promise<void> {
  const named = held.slice(0, maxHeldTopics).map((one) => ({ ...one, reason: one.reason.slice(0, maxReason) }))
  await sql`
    insert into dlq.dlq_retriers (id, publishes, fault, held_topics)
    values (${id}, ${publishes}, ${fault}, ${toJson(named)}::json)
    on conflict (id) do update set
      publishes = excluded.publishes, fault = excluded.fault, held_topics = excluded.held_topics, seen_at = now()`
}

/** Deletes the retrier's row, and those of retriers that were not seen for a day. */
export async function forgetRetrier(sql: Sql, id: string): Promise<void> {
  await sql`delete from dlq.dlq_retriers where id = ${id} or seen_at < now() - interval '1 day'`
}

/** Deletes the rows of retriers that were not seen for a day. Returns how many. */
export async function forgetDeadRetriers(sql: Sql): Promise<number> {
  const result = await sql`delete from dlq.dlq_retriers where seen_at < now() - interval '1 day'`
  return result.count
}

/**
 * Whether retriers are alive, but all run without Kafka. False where none is alive: then a retrier is probably being
 * replaced, and its successor will publish.
 */
export async function isWithoutKafka(sql: Sql, { aliveMs }: { aliveMs: number }): Promise<boolean> {
  const [row] = await sql<{ without_kafka: boolean }[]>`
    select coalesce(bool_and(publishes = 'nothing'), false) as without_kafka
    from dlq.dlq_retriers where seen_at > now() - ${aliveMs}::int * interval '1 ms'`
  return row!.without_kafka
}
