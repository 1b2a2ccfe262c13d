// Error groups with nothing left to do: every message was sent, read, and stayed away. A policy's auto_resolve says
// after which time such a group is resolved by itself.

import type { MessageTopics } from '../../domain/retry/effective-policy.ts'
import { lines } from '../reading/summary.ts'
import { type Sql, toJson } from '../sql.ts'

export type QuietTopics = MessageTopics & { afterMs: number }

/** A group for one DLQ topic; for the original topic where messages were never on one. */
export type QuietGroup = {
  group_id: string
  dlq_topic: string
  afterMs: number
  /** Since when it is quiet, as text with microseconds. */
  since: string
}

/**
 * The open groups of these topics of which no message is PENDING, RETRYING or DEAD, and which had no failure for the
 * longest of their topics' times; at most `limit`, those quiet for longest first, behind `after`. Topics that are not
 * named keep a group open.
 */
export async function listQuietGroups(
  sql: Sql,
  { topics, after, limit }: { topics: readonly QuietTopics[]; after: QuietGroup | null; limit: number },
): Promise<QuietGroup[]> {
  if (topics.length === 0) return []
  const since = sql`coalesce(t.last_seen_at, t.first_seen_at)`
  return sql<QuietGroup[]>`
    with counted as materialized (
      select coalesce(line.dlq_topic, line.original_topic) as dlq_topic, line.group_id,
             sum(line.count) filter (where line.status <> 'RESOLVED') as open, sum(line.count) as messages,
             bool_and(named."afterMs" is not null) as are_named, max(named."afterMs") as after_ms
      from ${lines(sql, { withGroups: true })}
      left join json_to_recordset(${toJson(topics)}::json) as named (
        original_topic text, dlq_topic text, "afterMs" float8)
        on named.original_topic = line.original_topic and named.dlq_topic is not distinct from line.dlq_topic
      where line.group_id is not null
      group by 1, 2
    )
    select t.group_id, t.dlq_topic, c.after_ms as "afterMs", ${since}::text as since
    from counted c
    join dlq.dlq_group_topics t on t.dlq_topic = c.dlq_topic and t.group_id = c.group_id
    where c.are_named and c.messages > 0 and coalesce(c.open, 0) = 0 and t.state = 'open'
      and ${since} < now() - c.after_ms * interval '1 ms'
      ${
        after === null
          ? sql``
          : sql`and (${since}, t.group_id, t.dlq_topic)
                  > (${after.since}::text::timestamptz, ${after.group_id}::uuid, ${after.dlq_topic}::text)`
      }
    order by ${since}, t.group_id, t.dlq_topic
    limit ${limit}`
}

/** Of a group's messages, the newest are asked what became of them. */
const maxAsked = 20_000

/**
 * Resolves the group if it is still open, all of its messages are RESOLVED, none failed within the time, and the last
 * retry of each was consumed or confirmed: what was sent and not read says nothing. True where it did.
 */
export async function resolveQuietGroup(sql: Sql, { group_id, dlq_topic, afterMs }: QuietGroup): Promise<boolean> {
  const result = await sql`
    with messages as materialized (
      select id, consumer_group, retry_count, status, last_failed_at
      from dlq.dlq_messages
      where group_id = any(array[${group_id}::uuid]) and coalesce(dlq_topic, original_topic) = ${dlq_topic}
      order by group_id desc, status desc, id desc limit ${maxAsked}
    )
    update dlq.dlq_group_topics t set state = 'resolved', snoozed_until = null, state_changed_at = now()
    where t.group_id = ${group_id} and t.dlq_topic = ${dlq_topic} and t.state = 'open'
      and exists (select from messages)
      and not exists (
        select from messages m
        left join dlq.dlq_attempts a on a.message_id = m.id and a.number = m.retry_count
        left join lateral dlq.verdict(
          m.consumer_group, a.target_topic, a.target_partition, a.target_offset, a.settled_at, a.failed_again_at,
          coalesce(a.confirmed_at, case when a.outcome = 'resolved' then a.settled_at end)) v on a.message_id is not null
        where m.status <> 'RESOLVED' or m.last_failed_at > now() - ${afterMs}::float8 * interval '1 ms'
          or v.verdict is null or v.verdict not in ('consumed', 'confirmed'))`
  return result.count > 0
}
