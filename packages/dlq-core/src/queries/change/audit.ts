// dlq_audit: who changed what, and why.

import type postgres from 'postgres'
import { escapeLike } from '../../domain/message/message-filter.ts'
import { type Sql, toJson } from '../sql.ts'
import { countInScope, inScope, type TopicScope } from '../topic-scope.ts'

export type AuditEntry = {
  actor: string
  role: string
  request_id: string
  /** "message.retry", "policy.put" … */
  action: string
  target_type: string
  target_id: string
  original_topic?: string | null
  dlq_topic?: string | null
  reason?: string | null | undefined
  /** The changed thing before and after, never a payload. Null where it did not exist before, or does not exist after. */
  before?: object | null
  after?: object | null
}

/** Writes one entry. Call it in the transaction of the change, so that neither exists without the other. */
export async function writeAudit(sql: Sql, entry: AuditEntry): Promise<void> {
  const { actor, role, request_id, action, target_type, target_id } = entry
  const { original_topic = null, dlq_topic = null, reason = null, before = null, after = null } = entry
  await sql`
    insert into dlq.dlq_audit (
      actor, role, request_id, action, target_type, target_id, original_topic, dlq_topic, reason, before, after)
    values (${actor}, ${role}, ${request_id}, ${action}, ${target_type}, ${target_id}, ${original_topic}, ${dlq_topic},
            ${reason}, ${before && toJson(before)}::text::json, ${after && toJson(after)}::text::json)`
}

/** The topics by which a limited token may see an entry about the message; both null where there is no such message. */
export async function topicsOfMessage(
  sql: Sql,
  id: string,
): Promise<{ original_topic: string | null; dlq_topic: string | null }> {
  const [row] = await sql<{ original_topic: string; dlq_topic: string | null }[]>`
    select original_topic, dlq_topic from dlq.dlq_messages where id = ${id}
    union all
    select original_topic, dlq_topic from dlq.dlq_messages_archive where id = ${id}
    limit 1`
  return row ?? { original_topic: null, dlq_topic: null }
}

/** Deletes a bounded number of entries of the days that ended by `before`; at most of yesterday. Returns how many. */
export async function deleteOldAudit(sql: Sql, { before, limit }: { before: Date; limit: number }): Promise<number> {
  const [row] = await sql<[{ deleted: number }]>`select dlq.forget_audit(${before}, ${limit}::int) as deleted`
  return row.deleted
}

export type WrittenEntry = {
  id: bigint
  at: Date
  actor: string
  role: string
  action: string
  target_type: string
  target_id: string
  original_topic: string | null
  dlq_topic: string | null
  reason: string | null
  /** JSON text, like `after`. */
  before: string | null
  after: string | null
  request_id: string | null
}

export type AuditFilter = {
  actor?: string | undefined
  action?: string | undefined
  target_type?: string | undefined
  target_id?: string | undefined
  from?: Date | undefined
  to?: Date | undefined
  /** The original topic or the DLQ topic. */
  topic?: string | undefined
  /** Text within the reason, in any case. */
  q?: string | undefined
}

export type AuditPage = {
  entries: WrittenEntry[]
  /** Where the search goes on, if it ended at its bound before it had enough. Otherwise null. */
  examinedTo: bigint | null
}

/** So many entries are looked at for one page of what is related, and of what has a text in its reason. */
const maxLookedAt = 500
const maxReasonsRead = 5000

/** The target's id of an entry e as uuid, where the entry is about such a thing. The audit's ids are text. */
function targetOf(sql: Sql, type: 'message' | 'run') {
  return sql`
    case when e.target_type = ${type} and e.target_id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then e.target_id::uuid end`
}

/**
 * What happened to an error group or a run, to its messages, and by runs over it: the entries before `beforeId`, newest
 * first.
 */
export async function listRelatedAudit(
  sql: Sql,
  {
    to: { target_type, target_id },
    scope,
    beforeId,
    limit,
  }: {
    to: { target_type: 'group' | 'run'; target_id: string }
    scope: TopicScope
    beforeId: bigint | null
    limit: number
  },
): Promise<AuditPage> {
  const id = sql`${target_id}::uuid`
  const message = targetOf(sql, 'message')
  const ofRun = (selected: string) => sql`
    (select r.selection #>> ${selected}::text[] from dlq.dlq_runs r where r.id = ${targetOf(sql, 'run')}) = ${target_id}`
  // Each is a look-up by a primary key. As "in" or "exists", PostgreSQL might read all messages of the group.
  const isRelated =
    target_type === 'group'
      ? sql`
        coalesce(
          (select m.group_id from dlq.dlq_messages m where m.id = ${message}),
          (select m.group_id from dlq.dlq_messages_archive m where m.id = ${message})) = ${id}
        or ${ofRun('{filter,group_id}')}`
      : sql`
        (select m.run_id from dlq.dlq_messages m where m.id = ${message}) = ${id}
        or (select true from dlq.dlq_attempts a where a.message_id = ${message} and a.run_id = ${id} limit 1)
        or (select true from dlq.dlq_run_undo u where u.run_id = ${id} and u.message_id = ${message})
        or ${ofRun('{changed_in}')} or ${ofRun('{failed_again_in}')}`
  return searchAudit(sql, {
    where: sql`(e.target_type = ${target_type} and e.target_id = ${target_id}) or ${isRelated}`,
    ...{ scope, beforeId, limit, examine: maxLookedAt },
  })
}

/** Tests the newest `examine` entries before `beforeId`, one by one. */
async function searchAudit(
  sql: Sql,
  {
    where,
    scope,
    beforeId,
    limit,
    examine,
  }: {
    where: postgres.PendingQuery<postgres.Row[]>
    scope: TopicScope
    beforeId: bigint | null
    limit: number
    examine: number
  },
): Promise<AuditPage> {
  const rows = await sql<((WrittenEntry | { id: null }) & { edge: bigint | null })[]>`
    with looked as materialized (
      select * from dlq.dlq_audit e
      where ${entryInScope(sql, scope)} ${beforeId === null ? sql`` : sql`and id < ${beforeId}`}
      order by id desc
      limit ${examine}
    ),
    found as (
      select ${writtenColumns(sql)} from looked e where ${where} order by e.id desc limit ${limit}
    )
    select seen.edge, found.*
    from (select case when count(*) = ${examine}::int then min(id) end as edge from looked) seen
    left join found on true
    order by found.id desc`
  const entries = rows.flatMap(({ edge: _, ...entry }) => (entry.id === null ? [] : [entry as WrittenEntry]))
  return { entries, examinedTo: entries.length === limit ? null : rows[0]!.edge }
}

/** On an entry e. Of a message whose route is closed, who sees only its original topic sees no entry either. */
function entryInScope(sql: Sql, scope: TopicScope) {
  if (scope === null) return sql`true`
  return sql`(${inScope(sql, scope, 'e.')} and (e.target_type <> 'message' or ${countInScope(sql, scope, 'e')}))`
}

function writtenColumns(sql: Sql) {
  return sql`id, at, actor, role, action, target_type, target_id, original_topic, dlq_topic, reason, before, after, request_id`
}

/** The entries before `beforeId`, newest first. A caller who may see only some topics sees no entry without a topic. */
export async function listAudit(
  sql: Sql,
  {
    filter,
    scope,
    beforeId,
    limit,
  }: { filter: AuditFilter; scope: TopicScope; beforeId: bigint | null; limit: number },
): Promise<AuditPage> {
  const { actor, action, target_type, target_id, from, to, topic, q } = filter
  const tests = sql`
      ${actor === undefined ? sql`` : sql`and actor = ${actor}`}
      ${action === undefined ? sql`` : sql`and action = ${action}`}
      ${target_type === undefined ? sql`` : sql`and target_type = ${target_type}`}
      ${target_id === undefined ? sql`` : sql`and target_id = ${target_id}`}
      ${from === undefined ? sql`` : sql`and at >= ${from}`}
      ${to === undefined ? sql`` : sql`and at < ${to}`}
      ${topic === undefined ? sql`` : sql`and (original_topic = ${topic} or dlq_topic = ${topic})`}
`
  if (q !== undefined) {
    const where = sql`reason ilike ${`%${escapeLike(q)}%`} ${tests}`
    return searchAudit(sql, { where, scope, beforeId, limit, examine: maxReasonsRead })
  }
  const entries = await sql<WrittenEntry[]>`
    select ${writtenColumns(sql)}
    from dlq.dlq_audit e
    where ${entryInScope(sql, scope)} ${beforeId === null ? sql`` : sql`and id < ${beforeId}`} ${tests}
    order by id desc
    limit ${limit}`
  return { entries: [...entries], examinedTo: null }
}
