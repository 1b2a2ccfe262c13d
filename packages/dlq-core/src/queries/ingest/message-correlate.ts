// Finds the message that a dead letter without our headers belongs to: the one that was published to the coordinates
// of the dead letter's original record. This needs no help of the consumer, so it works for frameworks that drop
// headers.

import type { RecordPlace } from '../../domain/record/record-place.ts'
import { heldBySlots } from '../held-by-slots.ts'
import { type Sql, toJson } from '../sql.ts'

export type Correlated = RecordPlace & { message_id: string; number: number }

/**
 * The attempts that published to these coordinates, those of archived messages as well; not those that published to a topic
 * which was deleted, and created again since.
 */
export async function findAttemptsByPlace(sql: Sql, places: readonly RecordPlace[]): Promise<Correlated[]> {
  if (places.length === 0) return []
  // Most batches name topics that no retry was ever sent to. One look-up per topic saves one per record.
  const topics = await sql<{ topic: string }[]>`
    select topic from unnest(${sql.array([...new Set(places.map(({ topic }) => topic))])}::text[]) as named (topic)
    where exists (select from dlq.dlq_attempts a where a.target_topic = named.topic and a.target_offset is not null)
       or exists (select from dlq.dlq_attempts_archive a where a.target_topic = named.topic and a.target_offset is not null)`
  if (topics.length === 0) return []
  const targets = new Set(topics.map(({ topic }) => topic))
  return sql<Correlated[]>`
    select a.target_topic as topic, a.target_partition as partition, a.target_offset as offset, a.message_id, a.number
    from json_to_recordset(${toJson(places.filter(({ topic }) => targets.has(topic)))}::json)
      as place (topic text, partition int, "offset" bigint)
    join (select target_topic, target_partition, target_offset, message_id, number, settled_at from dlq.dlq_attempts
          union all
          select target_topic, target_partition, target_offset, message_id, number, settled_at from dlq.dlq_attempts_archive) a
      on a.target_topic = place.topic and a.target_partition = place.partition and a.target_offset = place."offset"
    left join dlq.dlq_target_topics t on t.target_topic = place.topic
    where t.new_since is null or a.settled_at > t.new_since`
}

/** Kafka's default retention: within it a record that was published to unknown coordinates can still be read. */
const retentionDays = 7

export type Retrying = {
  original_topic: string
  dlq_topic: string | null
  consumer_group: string | null
  /** Where its run, or an edit, sends it instead of where its policy says. */
  target_topic: string | null
}

/**
 * Those of the topics that may hold a retry whose coordinates are not stored: an attempt is under way, was settled by
 * a retrier that did not make it, or was given back as unknown.
 *
 * @param targetOf where a message that is being retried is sent, by its policy
 */
export async function findTopicsOfUnplaced(
  sql: Sql,
  topics: readonly string[],
  targetOf: (message: Retrying) => string,
): Promise<Set<string>> {
  // Retriers hold what they retry by their slot, programs that claim by SQL by a lease; each has its index. "materialized",
  // because with the topics' names in the same query, the planner may read all messages of these topics. In a partition that
  // was never analyzed many rows seem to have a lease, too (held-by-slots.ts), so they are looked at only if there is one.
  const rows = await sql<({ named: string } | ({ named: null } & Retrying))[]>`
    with leased as materialized (
      select from dlq.dlq_messages where lease_until is not null order by lease_until limit 1
    ),
    retrying as materialized (
      select original_topic, dlq_topic, consumer_group, target_topic, run_id from ${heldBySlots(sql)} held where status = 'RETRYING'
      union
      select original_topic, dlq_topic, consumer_group, target_topic, run_id from dlq.dlq_messages
      where lease_until is not null and lease_slot is null and status = 'RETRYING' and exists (select from leased)
    )
    select null as named, original_topic, dlq_topic, consumer_group,
           coalesce((select r.target_topic from dlq.dlq_runs r where r.id = run_id), target_topic) as target_topic
    from retrying
    union all
    select topic, null, null, null, null from json_array_elements_text(${JSON.stringify(topics)}::json) as asked (topic)
    where exists (select from dlq.dlq_attempts a
                  where a.target_topic = asked.topic
                    and (a.unknown_at is not null
                      or (a.target_offset is null and a.outcome = 'published' and a.failed_again_at is null))
                    and a.settled_at > now() - make_interval(days => ${retentionDays}::int))`
  const asked = new Set(topics)
  const found = rows.flatMap((row) => (row.named === null ? [row.original_topic, targetOf(row)] : row.named))
  return new Set(found.filter((topic) => asked.has(topic)))
}
