// dlq_staleness: what was found out about newer records of the keys of open messages. It has rows only where a policy asks.

import type { MessageTopics } from '../../domain/retry/effective-policy.ts'
import type { Decided } from '../../domain/staleness/partition-scan.ts'
import type { StalenessAnswer, StalenessReason } from '../../domain/staleness/staleness.ts'
import { heldUnlessForced } from '../origin/held-for-origin.ts'
import { type Sql, toJson } from '../sql.ts'

/** What is open may still be sent. */
const openStatuses = ['PENDING', 'RETRYING', 'DEAD'] as const

/**
 * Enters the open messages of these topics behind `after` that have no row yet; reads `limit` of them. Returns the last
 * id that was read; null where there is none. Those without key or place are answered at once.
 */
export async function enterOpen(
  sql: Sql,
  { original_topic, dlq_topic, after, limit }: MessageTopics & { after: string; limit: number },
): Promise<string | null> {
  // Each status along idx_dlq_messages_original_topic.
  const ofStatus = openStatuses.map(
    (status) => sql`
      (select id, original_topic, original_partition, original_offset, record_key is null as is_keyless
       from dlq.dlq_messages
       where original_topic = ${original_topic} and status = ${status} and id > ${after} and not held_by_route
         and dlq_topic is not distinct from ${dlq_topic}
       order by id limit ${limit})`,
  )
  const [row] = await sql<[{ last: string | null }]>`
    with open as materialized (
      select * from (${ofStatus.reduce((all, one) => sql`${all} union all ${one}`)}) of_status order by id limit ${limit}
    ),
    ${entering(sql)}
    select (select id from open order by id desc limit 1) as last`
  return row.last
}

/** Enters these messages, whose policies ask. */
export async function enterMessages(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql`
    with open as materialized (
      select id, original_topic, original_partition, original_offset, record_key is null as is_keyless
      from dlq.dlq_messages where id = any(${sql.array([...ids])}::uuid[])
    ),
    ${entering(sql)}
    select from open`
}

function entering(sql: Sql) {
  return sql`
    entered as (
      insert into dlq.dlq_staleness (message_id, original_topic, partition, original_offset, answer, reason, answered_at)
      select id, original_topic, original_partition, original_offset,
             case when reason is null then 'waiting' else 'unknown' end, reason, case when reason is not null then now() end
      from open
      cross join lateral (
        select case when is_keyless then 'no_key'
                    when original_partition is null or original_offset is null then 'no_place' end as reason) found
      where not exists (select from dlq.dlq_staleness s where s.message_id = open.id)
      order by id
      on conflict (message_id) do nothing
      returning original_topic, partition, answer
    ),
    called as (
      insert into dlq.dlq_staleness_cursors (original_topic, partition)
      select distinct original_topic, partition from entered where answer = 'waiting' order by original_topic, partition
      on conflict (original_topic, partition) do update set look_due_at = now()
      where dlq_staleness_cursors.lease is null and dlq_staleness_cursors.look_due_at > now()
    )`
}

/** Deletes the answers about messages of the topic that are sent or gone. */
export async function forgetSettled(sql: Sql, originalTopic: string): Promise<void> {
  await sql`
    delete from dlq.dlq_staleness s
    where s.original_topic = ${originalTopic}
      and not exists (select from dlq.dlq_messages m where m.id = s.message_id and m.status <> 'RESOLVED')`
}

export type OpenRow = {
  message_id: string
  original_offset: bigint
  answer: 'waiting' | 'fresh'
  record_key: Buffer
  is_tombstone: boolean
  created_at: Date
}

/**
 * The undecided messages of a partition, in the order of their offsets. Forgets those that are no longer open: they are
 * not read for meanwhile, so a message that fails again begins anew.
 */
export async function listUndecided(
  sql: Sql,
  { original_topic, partition, limit }: { original_topic: string; partition: number; limit: number },
): Promise<OpenRow[]> {
  return sql<OpenRow[]>`
    with asked as materialized (
      select s.message_id, s.original_offset, s.answer, m.id is not null as is_open,
             m.record_key, m.record_value is null as is_tombstone, m.created_at
      from dlq.dlq_staleness s
      left join dlq.dlq_messages m on m.id = s.message_id and m.status <> 'RESOLVED' and m.record_key is not null
      where s.original_topic = ${original_topic} and s.partition = ${partition} and s.answer in ('waiting', 'fresh')
      order by s.original_offset
      limit ${limit}
    ),
    forgotten as (
      delete from dlq.dlq_staleness s using asked where s.message_id = asked.message_id and not asked.is_open
    )
    select message_id, original_offset, answer, record_key, is_tombstone, created_at from asked where is_open
    order by original_offset`
}

/** Whether a message of the partition waits for its first answer. */
export async function hasWaiting(
  sql: Sql,
  { original_topic, partition }: { original_topic: string; partition: number },
): Promise<boolean> {
  const [row] = await sql<[{ has: boolean }]>`
    select exists (
      select from dlq.dlq_staleness
      where original_topic = ${original_topic} and partition = ${partition} and answer = 'waiting') as has`
  return row.has
}

/** Asks anew about messages of the topic that Kafka refused to tell of. */
export async function askAgain(sql: Sql, originalTopic: string): Promise<void> {
  await sql`
    update dlq.dlq_staleness set answer = 'waiting', reason = null, answered_at = null
    where original_topic = ${originalTopic} and answer = 'unknown' and reason = 'not_allowed'`
}

/** Writes answers to undecided messages. */
export async function writeDecided(sql: Sql, decided: readonly Decided[]): Promise<void> {
  if (decided.length === 0) return
  await sql`
    update dlq.dlq_staleness s set
      answer = found.answer, reason = found.reason, newer_offset = found.newer_offset, newer_at = found.newer_at, answered_at = now()
    from json_to_recordset(${toJson(decided)}::json)
      as found (id uuid, answer text, reason text, newer_offset bigint, newer_at timestamptz)
    where s.message_id = found.id and s.answer in ('waiting', 'fresh')`
}

/**
 * From now on the position of their partition's cursor holds for these messages. Those that were held when they were
 * due by themselves, and that nobody has changed since, are due again.
 */
export async function writeFresh(sql: Sql, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await sql`
    with found as (
      update dlq.dlq_staleness set answer = 'fresh', answered_at = now()
      where message_id = any(${sql.array([...ids])}::uuid[]) and answer = 'waiting'
      returning message_id as id, held_at
    ),
    held as materialized (
      select m.id from dlq.dlq_messages m join found using (id)
      where m.status = 'PENDING' and m.next_retry_at is null and m.updated_at = found.held_at
        and not ${heldUnlessForced(sql, 'm.')}
      order by m.id
      for update of m
    )
    update dlq.dlq_messages m set next_retry_at = now(), updated_at = now() from held where m.id = held.id`
}

/** Answers all that is undecided in the partition from an offset on in the same way. */
export async function writeUnknown(
  sql: Sql,
  place: { original_topic: string; partition: number; fromOffset: bigint; reason: StalenessReason },
): Promise<void> {
  await sql`
    update dlq.dlq_staleness set answer = 'unknown', reason = ${place.reason}, answered_at = now()
    where original_topic = ${place.original_topic} and partition = ${place.partition}
      and original_offset >= ${place.fromOffset} and answer in ('waiting', 'fresh')`
}

export type KnownStaleness = {
  message_id: string
  answer: StalenessAnswer
  reason: StalenessReason | null
  newer_offset: bigint | null
  newer_at: Date | null
  /** Of a fresh message: what was read to, and when. */
  fresh_to: bigint | null
  looked_at: Date | null
  original_offset: bigint | null
  /** How many partitions the topic had at that look. */
  topic_partitions: number | null
  forced_attempt: number | null
}

/** What is known of these messages; nothing of those that no policy asks about. */
export async function listStaleness(sql: Sql, ids: readonly string[]): Promise<KnownStaleness[]> {
  return sql<KnownStaleness[]>`
    select s.message_id, s.answer, s.reason, s.newer_offset, s.newer_at, s.original_offset, s.forced_attempt, c.topic_partitions,
           case when s.answer = 'fresh' then c.position end as fresh_to,
           case when s.answer = 'fresh' then c.looked_at else s.answered_at end as looked_at
    from dlq.dlq_staleness s
    left join dlq.dlq_staleness_cursors c on c.original_topic = s.original_topic and c.partition = s.partition
    where s.message_id = any(${sql.array([...ids])}::uuid[])`
}

export type SentBefore = {
  id: string
  original_topic: string
  original_partition: number | null
  original_offset: bigint | null
}

/** Where the records of these messages stood that we sent again, archived ones too. */
export async function listOriginsOf(sql: Sql, ids: readonly string[]): Promise<SentBefore[]> {
  if (ids.length === 0) return []
  const wanted = sql.array([...ids])
  return sql<SentBefore[]>`
    select id, original_topic, original_partition, original_offset from dlq.dlq_messages where id = any(${wanted}::uuid[])
    union all
    select id, original_topic, original_partition, original_offset from dlq.dlq_messages_archive where id = any(${wanted}::uuid[])`
}
