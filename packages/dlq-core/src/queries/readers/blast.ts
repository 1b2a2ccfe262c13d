// Whom a retry of many messages reaches: the topics that they would be sent to, and the groups that read these.

import type { StalenessAnswer } from '../../domain/staleness/staleness.ts'
import { heldUnlessForced } from '../origin/held-for-origin.ts'
import { rowsOf } from '../reading/message-search.ts'
import type { Sql } from '../sql.ts'
import { messageInScope, type TopicScope } from '../topic-scope.ts'

export type TargetPart = {
  original_topic: string
  dlq_topic: string | null
  /** Where somebody has said that these messages go; null: as their policy says. */
  target_topic: string | null
  consumer_group: string | null
  partition: number | null
  count: number
  bytes: number
}

type Chosen = { ids: readonly string[]; scope: TopicScope; isForced: boolean }

/** The messages of these ids that a run would take, by where they go. */
export async function listTargetParts(sql: Sql, chosen: Chosen): Promise<TargetPart[]> {
  return sql<TargetPart[]>`
    select original_topic, dlq_topic, target_topic, consumer_group, original_partition as partition, count(*)::float8 as count,
           coalesce(sum(coalesce(octet_length(record_value), 0) + coalesce(octet_length(record_key), 0)), 0)::float8 as bytes
    from ${allTakenOf(sql, chosen)}
    group by original_topic, dlq_topic, target_topic, consumer_group, original_partition`
}

/** Of the messages that go back to where they came from, how many each group of that topic has read before. */
export async function countSeenBefore(
  sql: Sql,
  chosen: Chosen,
): Promise<{ topic: string; consumer_group: string; count: number }[]> {
  return sql<{ topic: string; consumer_group: string; count: number }[]>`
    select m.original_topic as topic, p.consumer_group, count(*)::float8 as count
    from ${allTakenOf(sql, chosen)}
    join dlq.dlq_reader_partitions p
      on p.target_topic = m.original_topic and p.partition = m.original_partition and p.passed_offset > m.original_offset
    group by m.original_topic, p.consumer_group`
}

/** A message, and what is known to stand behind it where it came from. */
export type Overtaken = {
  topic: string
  consumer_group: string | null
  /** One of the newer dead letters was sent since; null: there is none. */
  is_sent: boolean | null
  /** The groups that failed on the newer ones, where they are known. */
  newer_groups: string[] | null
  /** What a retrier found behind it; null where no policy asked. */
  answer: StalenessAnswer | null
}

/** Of the dead letters of a key, those with the greatest ids are looked at. */
const examinedOfKey = 100

/**
 * The first messages of these ids that a run would take, each with the newer dead letters of its key and partition.
 * `seesKeys`: else reported messages do not count, as in `listNewerDeadLetters`.
 */
export async function listOvertaken(
  sql: Sql,
  { limit, seesKeys, ...of }: Chosen & { limit: number; seesKeys: boolean },
): Promise<Overtaken[]> {
  // Along idx_dlq_messages_record_key, as listNewerDeadLetters.
  return sql<Overtaken[]>`
    select m.original_topic as topic, m.consumer_group, newer.is_sent, newer.newer_groups, s.answer
    from (
      select chosen.id, original_topic, original_partition, original_offset, consumer_group, record_key
      from ${takenOf(sql, of)}
      where ${seesKeys}::boolean or dlq_topic is not null
      limit ${limit}
    ) m
    left join dlq.dlq_staleness s on s.message_id = m.id
    cross join lateral (
      -- The driver reads a null in an array as the text "NULL".
      select bool_or(status = 'RESOLVED') as is_sent,
             array_agg(distinct consumer_group) filter (where consumer_group is not null) as newer_groups
      from (
        select status, original_topic, original_partition, original_offset, consumer_group, record_key
        from dlq.dlq_messages
        where substring(record_key from 1 for 64) = substring(m.record_key from 1 for 64)
          and record_key is not null and ${messageInScope(sql, of.scope)}
          and not held_by_route and (${seesKeys}::boolean or dlq_topic is not null)
        order by substring(record_key from 1 for 64) desc, id desc
        limit ${examinedOfKey}
      ) of_key
      where record_key = m.record_key and original_topic = m.original_topic
        and original_partition = m.original_partition and original_offset > m.original_offset
    ) newer`
}

/** `chosen` and `m`: one by one in the order of the ids, for a caller who stops at a limit. */
function takenOf(sql: Sql, { ids, ...of }: Chosen) {
  return sql`
    unnest(${sql.array([...ids])}::uuid[]) as chosen (id)
    cross join lateral (select ${takenColumns(sql)} from dlq.dlq_messages where id = chosen.id and ${isTaken(sql, of)}) m`
}

/** `m`: all of them, in no order. A look-up for each takes three times as long. */
function allTakenOf(sql: Sql, { ids, ...of }: Chosen) {
  const rows = rowsOf(sql, { table: sql`dlq.dlq_messages`, ids: sql`select unnest(${sql.array([...ids])}::uuid[])` })
  return sql`(select ${takenColumns(sql)} from ${rows} rows where ${isTaken(sql, of)}) m`
}

function takenColumns(sql: Sql) {
  return sql`original_topic, dlq_topic, target_topic, consumer_group, original_partition, original_offset, record_value, record_key`
}

function isTaken(sql: Sql, { scope, isForced }: Omit<Chosen, 'ids'>) {
  return sql`
    run_id is null and not ${heldUnlessForced(sql)} and ${messageInScope(sql, scope)}
    and (${isForced} and status in ('PENDING', 'DEAD') or status = 'PENDING' and retry_count < max_retries)`
}

export type TargetReader = {
  target_topic: string
  consumer_group: string
  type: string
  state: string
  members: number | null
  lag: number | null
  per_second: number | null
  best_per_second: number | null
  produced_per_second: number | null
  /** It has had no members for a day. */
  is_gone: boolean
}

export async function listTargetReaders(sql: Sql, topics: readonly string[]): Promise<TargetReader[]> {
  return sql<TargetReader[]>`
    select g.target_topic, g.consumer_group, g.type, g.state, g.members, g.per_second, g.best_per_second,
           g.produced_per_second, coalesce(g.alone_since < now() - interval '1 day', false) as is_gone,
           (select sum(p.log_end_offset - greatest(p.committed_offset, p.log_start_offset))::float8
            from dlq.dlq_reader_partitions p
            where p.target_topic = g.target_topic and p.consumer_group = g.consumer_group
              and p.committed_offset is not null) as lag
    from dlq.dlq_readers g where g.target_topic = any(${sql.array([...topics])}::text[])
    order by g.target_topic, g.consumer_group`
}

/** When a retrier last looked at the groups; null: never. */
export async function readersLookedAt(sql: Sql): Promise<Date | null> {
  const [row] = await sql<{ looked_at: Date | null }[]>`select looked_at from dlq.dlq_reader_watch`
  return row?.looked_at ?? null
}
