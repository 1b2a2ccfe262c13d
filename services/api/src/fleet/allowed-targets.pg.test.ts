// kafka.allowed_targets in the API: whoever asks for another target hears of it at once, not by a refused attempt.

import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { expect, test } from 'vitest'
import { answerOf, createTestApp } from '../test-app.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

async function ask(methodAndPath: string, body: object) {
  const app = createTestApp(service.sql, { allowedTargets: ['orders*'] })
  const headers = { 'content-type': 'application/json', 'if-match': '*' }
  return answerOf(app(methodAndPath, { headers, body: JSON.stringify(body) }))
}

function refusal(field: string) {
  const message = 'is not among the topics of kafka.allowed_targets'
  return { status: 400, body: { error: { details: [{ field, message }] } } }
}

test('a redirect run to a topic outside the allowed targets is refused, and none is created', async () => {
  const run = { kind: 'redirect', selection: { filter: { topic: 'orders.dlq.v1' } }, reason: 'moved' }
  expect(await ask('POST /api/v1/runs', { ...run, target_topic: 'payments' })).toMatchObject(refusal('target_topic'))
  expect(await database.sql`select id from dlq.dlq_runs`).toHaveLength(0)
})

test('an edit to such a target is refused, and one to an allowed target is not', async () => {
  const id = await insertMessageRow(database.sql, { dlq_topic: 'orders.dlq.v1', record_headers: database.sql.json([]) })
  const edit = (target_topic: string) => ask(`PATCH /api/v1/dlq/messages/${id}`, { target_topic, reason: 'moved' })
  expect(await edit('payments')).toMatchObject(refusal('target_topic'))
  expect(await readMessageRow(database.sql, id)).toMatchObject({ target_topic: null })
  expect(await edit('orders.events.v2')).toMatchObject({ status: 200 })
})

test('a route to such a topic cannot be approved, but blocked', async () => {
  const decide = (state: string) => ask('PUT /api/v1/routes/shared/payments', { state, reason: 'asked' })
  expect(await decide('approved')).toMatchObject(refusal('originalTopic'))
  expect(await database.sql`select state from dlq.dlq_routes`).toHaveLength(0)
  expect(await decide('blocked')).toMatchObject({ status: 200, body: { state: 'blocked' } })
})

test('a policy cannot redirect to such a topic, and nothing is written, nor shown by a dry run', async () => {
  const app = createTestApp(service.sql, { allowedTargets: ['orders*'] })
  const headers = { 'content-type': 'application/json' }
  const put = (query: string, redirect_topic: string) =>
    answerOf(app(`PUT /api/v1/policies/orders${query}`, { headers, body: JSON.stringify({ redirect_topic }) }))
  expect(await put('', 'payments')).toMatchObject(refusal('redirect_topic'))
  expect(await put('?dry_run=true', 'payments')).toMatchObject(refusal('redirect_topic'))
  expect(await database.sql`select pattern from dlq.dlq_policies`).toHaveLength(0)
  expect(await put('', 'orders.later')).toMatchObject({ status: 200 })
  // What it names is known of each message; the retriers refuse it there.
  expect(await put('', '{topic}.{group}.retry')).toMatchObject({ status: 200 })
})
