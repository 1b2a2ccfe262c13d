// The audit of what belongs together: a group or a run, its messages, and the runs over it.

import { writeAudit } from 'dlq-core/queries/change/audit.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, expect, test } from 'vitest'
import { answerOf, createTestApp, lazyTestApp, type TestApp } from '../test-app.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const request = lazyTestApp(service)
const limited: TestApp = (...call) =>
  createTestApp(service.sql, {
    authenticate: async () => ({ actor: 'l', grants: [{ role: 'read', topics: ['pay*'] }] }),
  })(...call)
const group = '00000000-0000-8000-8000-000000000001'
const other = '00000000-0000-8000-8000-000000000002'

const write = (target_type: string, target_id: string, action: string, topics = {}) =>
  writeAudit(service.sql, {
    ...{ actor: 'maria', role: 'write', request_id: 'req_1', action, target_type, target_id },
    ...topics,
  })
const insertRun = async (selection: object) => {
  const [row] = await database.sql<[{ id: string }]>`
    insert into dlq.dlq_runs (kind, status, ended_at, actor, selection, until_id, matched, matched_relation)
    values ('retry', 'completed', now(), 'maria', ${JSON.stringify(selection)}::text::json, ${group}, 1, 'eq') returning id`
  return row.id
}
type Page = { entries: { action: string }[]; next_cursor: string | null }
const related = async (type: string, id: string, rest = '', app = request) =>
  (await answerOf(app(`GET /api/v1/audit?related=true&target_type=${type}&target_id=${id}${rest}`))).body as Page
const actions = ({ entries }: Page) => entries.map(({ action }) => action)

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_messages', 'dlq.dlq_attempts', 'dlq.dlq_audit', 'dlq.dlq_runs')
})

test('of a group: its own changes, those of its messages, also archived ones, and the runs over it', async () => {
  const mine = await insertMessageRow(database.sql, { group_id: group, original_topic: 'payments' })
  const theirs = await insertMessageRow(database.sql, { group_id: other })
  const archived = await insertMessageRow(database.sql, { group_id: group, status: 'RESOLVED' })
  await database.sql`select dlq.archive_messages(array[${archived}]::uuid[], now() + interval '1 hour')`
  const run = await insertRun({ filter: { group_id: group } })
  await write('group', group, 'group.change')
  await write('group', other, 'group.other')
  await write('message', mine, 'message.dead', { original_topic: 'payments' })
  await write('message', theirs, 'message.other')
  await write('message', archived, 'message.archive')
  await write('message', 'no id at all', 'message.strange')
  await write('run', run, 'run.create')
  await write('run', await insertRun({ filter: { group_id: other } }), 'run.other')
  expect(actions(await related('group', group))).toEqual([
    ...['run.create', 'message.archive', 'message.dead', 'group.change'],
  ])
  expect(actions(await related('group', group, '', limited))).toEqual(['message.dead'])
})

test('of a run: its own changes, those of the messages that it sent or changed, and the runs that undo it', async () => {
  const run = await insertRun({ filter: {} })
  const sent = await insertMessageRow(database.sql)
  const changed = await insertMessageRow(database.sql)
  await database.sql`
    insert into dlq.dlq_attempts (message_id, number, attempt_id, outcome, run_id) values (${sent}, 1, ${sent}, 'published', ${run})`
  await database.sql`
    insert into dlq.dlq_run_undo (run_id, message_id, status, max_retries) values (${run}, ${changed}, 'PENDING', 3)`
  await write('run', run, 'run.create')
  await write('message', sent, 'message.edit')
  await write('message', changed, 'message.revive')
  await write('message', await insertMessageRow(database.sql), 'message.other')
  await write('run', await insertRun({ changed_in: run }), 'run.undo')
  expect(actions(await related('run', run))).toEqual(['run.undo', 'message.revive', 'message.edit', 'run.create'])
})

test('goes on behind what was looked at, and says what it does not go with', async () => {
  await write('group', group, 'group.change')
  await database.sql`
    insert into dlq.dlq_audit (actor, role, action, target_type, target_id)
    select 'maria', 'write', 'message.other', 'message', gen_random_uuid()::text from generate_series(1, 700)`
  const first = await related('group', group)
  expect(first.entries).toEqual([])
  const second = await related('group', group, `&cursor=${first.next_cursor}`)
  expect([actions(second), second.next_cursor]).toEqual([['group.change'], null])

  const faulty = async (query: string) => answerOf(request(`GET /api/v1/audit?related=true&${query}`))
  expect(await faulty(`target_type=message&target_id=${group}`)).toMatchObject({
    status: 400,
    body: { error: { message: expect.stringContaining('target_type=group or run') } },
  })
  expect(await faulty(`target_type=group&target_id=${group}&actor=x`)).toMatchObject({
    status: 400,
    body: { error: { message: expect.stringContaining('actor') } },
  })
})

test.each<[string, string, object]>([
  ['group.change', `PATCH groups/${group}`, { state: 'ignored', owner: 'maria', note: 'known' }],
  ['topic.rename', 'PATCH topics/payments', { display_name: 'Payments' }],
  ['consumer_group.rename', 'PATCH consumer-groups/billing', { display_name: 'Billing' }],
  ['policy.put', 'PUT policies/pay.*', { max_retries: 5, backoff: 'list', backoff_list: ['1m'], scrub: ['iban'] }],
  ['notification.route.put', 'PUT notifications/routes/on-call', { channel: 'slack', topics: ['pay*'], digest: '1m' }],
  ['run.rate', 'PATCH runs/RUN', { rate_per_second: 5 }],
  ['message.schedule', 'PATCH dlq/messages/MESSAGE', { max_retries: 7 }],
])('%s is audited where something changes', async (action, methodAndPath, change) => {
  await database.sql`truncate dlq.dlq_groups cascade`
  await database.sql`
    insert into dlq.dlq_groups (id, version, title, message, first_seen_at, last_seen_at)
    values (${group}, 1, 'Late', 'too late', now(), now())`
  const columns = {
    group_id: group,
    original_topic: 'payments',
    dlq_topic: 'payments.dlq.v1',
    consumer_group: 'billing',
  }
  const message = await insertMessageRow(database.sql, columns)
  await database.sql`
    insert into dlq.dlq_group_topics (group_id, dlq_topic, last_seen_at) values (${group}, 'payments.dlq.v1', now())
    on conflict do nothing`
  await database.sql`
    insert into dlq.dlq_notification_channels (name, kind, host) values ('slack', 'slack', 'x') on conflict do nothing`
  const run = await insertRun({ filter: {} })
  await database.sql`update dlq.dlq_runs set status = 'running', ended_at = null where id = ${run}`
  const [method, path = ''] = methodAndPath.replace('RUN', run).replace('MESSAGE', message).split(' ')
  const headers = { 'content-type': 'application/json', ...(path.startsWith('dlq/') && { 'if-match': '*' }) }
  const body = JSON.stringify(action === 'policy.put' ? change : { ...change, reason: 'known' })
  const send = async () => (await request(`${method} /api/v1/${path}`, { headers, body })).status
  expect([await send(), await send()]).toEqual([200, 200])
  const entries = await database.sql`select action from dlq.dlq_audit`
  expect(entries.map((entry) => entry.action)).toEqual([action])
})

test('cancelling a saga that carries out no run is audited, once', async () => {
  const [saga] = await database.sql<[{ id: string }]>`
    insert into saga.saga_states (workflow_name, payload, status) values ('order.refund', '{}', 'RUNNING') returning id`
  const body = JSON.stringify({ reason: 'the wrong order' })
  const headers = { 'content-type': 'application/json' }
  const cancel = async () => (await request(`POST /api/v1/sagas/${saga.id}/cancel`, { headers, body })).status
  expect([await cancel(), await cancel()]).toEqual([202, 409])
  expect(await answerOf(request(`GET /api/v1/audit?target_type=saga&target_id=${saga.id}`))).toMatchObject({
    body: {
      entries: [
        {
          ...{ action: 'saga.cancel', reason: 'the wrong order' },
          ...{ before: { status: 'RUNNING' }, after: { status: 'COMPENSATING' } },
        },
      ],
    },
  })
})
