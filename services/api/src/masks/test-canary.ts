// A canary: one address, planted wherever content of messages can be stored, so that a test sees whether an answer has it.

import type { MaskEntry } from 'dlq-core/domain/masks/create-masks.ts'
import { recordTopics } from 'dlq-core/queries/ingest/topics.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import type { TestDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'

export const canary = 'canary7f3@leak.example'

/** The canary as it stands, in base64 whatever is before it, in hex, and in a URL. */
export function hasCanary(text: string): boolean {
  const bytes = Buffer.from(canary)
  const inBase64 = [0, 1, 2].map((before) =>
    Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .slice(before === 0 ? 0 : 4, -4),
  )
  return [canary, 'canary7f3', bytes.toString('hex'), ...inBase64].some((form) => text.includes(form))
}

export const canaryMasks: MaskEntry[] = [
  {
    topics: ['orders.*'],
    hide: ['/customer/email', '/cards/*/number', '/**/secret'],
    key: 'hide',
    headers: ['X-User-*'],
    errors: ['email'],
  },
]

export const canaryTopic = 'orders.events.v1'
export const canaryDlqTopic = 'shared.dlq.v1'

const groupId = '1c9e5a3c-6d7e-8f00-a1b2-c3d4e5f60718'
const runId = '5f0c2d3e-7a51-4e64-9d0a-2f8f2b9a3c11'
const sagaId = '0b7e4a52-93f6-4f0f-8f39-6b6c2f1a7d10'
const attemptId = '0c1d2e3f-4a5b-8c6d-9e7f-001122334455'

export type Planted = {
  id: string
  text: string
  large: string
  archived: string
  groupId: string
  runId: string
  sagaId: string
  attemptId: string
}

/** The value of a planted message. `secret`: a member that masks hide at any depth. */
export function plantedValue(hidden: unknown = canary): object {
  return {
    order_id: '123',
    customer: { name: 'maria', email: hidden },
    cards: [{ number: hidden, holder: 'maria' }],
    lines: [{ sku: 'a', more: { secret: hidden } }],
  }
}

export const plantedHeaders = (hidden: string) => [
  ['x-user-mail', hidden],
  ['kafka_dlt-exception-message', `no such customer: ${hidden}`],
  ['kafka_dlt-exception-stacktrace', { column: 'error_stacktrace' }],
  ['springDeserializerExceptionValue', { base64: Buffer.from(`bytes of ${hidden}`).toString('base64') }],
  ['traceparent', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'],
]

/** Plants it in every table that the API shows something of. */
export async function plantCanary({ sql }: TestDatabase, service: Sql): Promise<Planted> {
  await recordTopics(service, { cluster: 'c', found: [{ topic: canaryDlqTopic, topic_id: null, partitions: 1 }] })
  const json = (value: unknown) => sql.json(value as never)
  const value = plantedValue()
  const columns = {
    ...{ original_topic: canaryTopic, dlq_topic: canaryDlqTopic, consumer_group: 'billing', group_id: groupId },
    ...{ error_message: `no such customer: ${canary}`, error_class: 'com.example.NoSuchCustomer' },
    error_stacktrace: `com.example.NoSuchCustomer: ${canary}\n\tat com.example.Billing.take(Billing.java:17)`,
    record_key: Buffer.from(canary),
    record_headers: json(plantedHeaders(canary)),
    record_value: Buffer.from(JSON.stringify(value)),
    payload: json(value),
  }
  await sql`
    insert into dlq.dlq_groups (id, version, error_class, location, message, title)
    values (${groupId}, 1, 'com.example.NoSuchCustomer', 'com.example.Billing.take', ${`no such customer: ${canary}`},
            ${`no such customer ${canary} in Billing.take`})`
  await sql`
    insert into dlq.dlq_group_topics (dlq_topic, group_id, note, last_seen_at)
    values (${canaryDlqTopic}, ${groupId}, ${`ask ${canary}`}, now())`
  await sql`
    insert into dlq.dlq_group_pauses (original_topic, group_id, reason, probe_at)
    values (${canaryTopic}, ${groupId}, ${`because of ${canary}`}, now())`
  const id = await insertMessageRow(sql, { ...columns, run_id: runId })
  const text = await insertMessageRow(sql, { ...columns, payload: null, record_value: Buffer.from(`plain ${canary}`) })
  const padded = { ...value, padding: 'x'.repeat(40_000) }
  const large = await insertMessageRow(sql, {
    ...columns,
    payload: json(padded),
    record_value: Buffer.from(JSON.stringify(padded)),
  })
  const archived = await insertMessageRow(sql, { ...columns, status: 'RESOLVED' })
  await sql`
    insert into dlq.dlq_attempts (message_id, number, attempt_id, run_id, outcome, error, settled_at, target_topic,
      failed_again_at, failed_again_class, failed_again_message)
    select m, 1, case when m = ${id} then ${attemptId}::uuid else gen_random_uuid() end, ${runId}, 'failed',
           ${`refused for ${canary}`}, now(), ${canaryTopic}, now(), 'com.example.NoSuchCustomer', ${`again: ${canary}`}
    from unnest(${sql.array([id, archived])}::uuid[]) m`
  await sql`select dlq.archive_messages(${sql.array([archived])}::uuid[])`
  await sql`
    insert into dlq.dlq_message_edits (message_id, number, actor, reason, fields, record_key, record_value, record_headers, payload)
    values (${id}, 1, 'maria', ${`asked by ${canary}`}, '{value}', ${columns.record_key}, ${columns.record_value},
            ${json(plantedHeaders(canary).filter(([, value]) => typeof value === 'string'))}, ${columns.payload})`
  await sql`update dlq.dlq_messages set edits = 1 where id = ${id}`
  await sql`
    insert into dlq.dlq_message_origins (message_id, state, record_key, record_value, record_headers, problem)
    values (${id}, 'different', ${columns.record_key}, ${columns.record_value},
            ${json(plantedHeaders(canary).filter(([, value]) => typeof value === 'string'))}, ${canary})`
  const filter = { key: canary, payload: JSON.stringify({ customer: { email: canary } }), q: canary }
  await sql`
    insert into dlq.dlq_runs (id, kind, status, status_reason, actor, reason, selection, until_id, matched, matched_relation, patch, saga_id)
    values (${runId}, 'edit', 'paused', ${`paused by maria: ${canary}`}, 'maria', ${`for ${canary}`}, ${json({ filter })},
            ${id}, 1, 'eq', ${json([{ op: 'replace', path: '/customer/email', value: canary }])}, ${sagaId})`
  await sql`
    insert into saga.saga_states (id, workflow_name, payload, status, correlation_id, initiated_by, error_message)
    values (${sagaId}, 'run.touched', ${json({ run_id: runId, key: canary })}, 'RUNNING', ${runId}, 'maria', ${`failed at ${canary}`})`
  await sql`
    insert into saga.saga_step_logs (saga_id, step_index, step_name, action, status, request_payload, response_payload, error_message)
    values (${sagaId}, 0, 'touch', 'EXECUTE', 'FAILED', ${json({ patch: [{ value: canary }] })},
            ${json({ error: `no ${canary}` })}, ${`failed at ${canary}`})`
  await sql`
    insert into dlq.dlq_audit (actor, role, action, target_type, target_id, original_topic, dlq_topic, reason, before, after)
    values ('maria', 'write', 'message.edit', 'message', ${id}, ${canaryTopic}, ${canaryDlqTopic}, ${`asked by ${canary}`},
            ${json({ note: `ask ${canary}` })}, ${json({ selection: { filter }, patch: [canary] })})`
  await sql`
    insert into dlq.dlq_events (id, type, subject, severity, title, group_id, data, is_condition)
    values (gen_random_uuid(), 'group.new', ${`group/${groupId}`}, 'warning', ${`New: no such customer ${canary}`}, ${groupId},
            ${json({ reason: canary })}, false)`
  await sql`
    insert into dlq.dlq_reads (actor, request_id, action, filter, reason)
    values ('anna', 'req_0', 'GET /api/v1/messages', ${json(filter)}, ${`for ${canary}`})`
  await sql`
    insert into dlq.dlq_topic_pauses (topic, what, paused_by, reason) select topic, 'retries', 'maria', ${`for ${canary}`} from unnest(${sql.array([canaryTopic, canaryDlqTopic])}) topic`
  await sql`
    insert into dlq.dlq_routes (dlq_topic, original_topic, state, decided_at, decided_by, reason)
    values (${canaryDlqTopic}, ${canaryTopic}, 'approved', now(), 'maria', ${`for ${canary}`})
    on conflict (dlq_topic, original_topic) do update set reason = excluded.reason`
  await sql`
    insert into dlq.dlq_candidates (cluster, topic, confidence, dismissed_at, dismissed_by, dismissed_reason)
    values ('c', 'dismissed-dlt', 'name', now(), 'maria', ${`for ${canary}`})`
  return { id, text, large, archived, groupId, runId, sagaId, attemptId }
}
