// The specification's tokens of channels and consumers, over its deletions.

import { createHash } from 'node:crypto'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, expect, test } from 'vitest'
import { createTestApp } from '../test-app.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const guarded = {
  channel_tokens: [
    { channel: 'orders', sha256: sha256('channel') },
    { channel: 'refunds', sha256: sha256('channel') },
  ],
  consumer_tokens: [{ channel: 'orders', consumer: 'payments', sha256: sha256('consumer') }],
}
const withBearer = { ...guarded, tokens: [{ name: 'op', sha256: sha256('bearer'), role: 'sys_operator' as const }] }
const both = { 'x-broker-channel-token': 'channel', 'x-broker-consumer-token': 'consumer' }
const path = 'DELETE /channel/orders/consumer/payments/dlq'

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_messages', 'dlq.dlq_audit')
  for (const consumer_group of ['payments', 'mail'])
    await insertMessageRow(database.sql, { original_topic: 'orders', consumer_group, status: 'DEAD', retry_count: 3 })
})

const ask = async (auth: object, request: string, headers: Record<string, string>) =>
  (await createTestApp(service.sql, { auth })(request, { headers })).status

test('both tokens delete the DEAD messages of their consumer, and the audit names them as the actor', async () => {
  expect(await ask(withBearer, path, both)).toBe(200)
  expect([...(await database.sql`select actor from dlq.dlq_audit`)]).toEqual([{ actor: 'payments of orders' }])
  expect(await database.sql`select from dlq.dlq_messages`).toHaveLength(1)
})

test.each([
  ['none', guarded, {}],
  ['one only', guarded, { 'x-broker-channel-token': 'channel' }],
  ['the other only', withBearer, { 'x-broker-consumer-token': 'consumer' }],
  ['a wrong one', guarded, { ...both, 'x-broker-consumer-token': 'guess' }],
  ['one for the other', guarded, { 'x-broker-channel-token': 'consumer', 'x-broker-consumer-token': 'channel' }],
  [
    'a wrong one beside a bearer token',
    withBearer,
    { ...both, 'x-broker-channel-token': '', authorization: 'Bearer bearer' },
  ],
])('with %s nothing is deleted', async (_, auth, headers: Record<string, string>) => {
  expect(await ask(auth, path, headers)).toBe(401)
  expect(await database.sql`select from dlq.dlq_messages`).toHaveLength(2)
})

test('they open no other consumer, channel or endpoint', async () => {
  expect(await ask(withBearer, 'DELETE /channel/orders/consumer/mail/dlq', both)).toBe(401)
  expect(await ask(withBearer, 'DELETE /channel/refunds/consumer/payments/dlq', both)).toBe(401)
  expect(await ask(withBearer, 'GET /dlq-status', both)).toBe(401)
})

test('bearer tokens work as well, and alone where no broker tokens are configured', async () => {
  expect(await ask(withBearer, path, { authorization: 'Bearer bearer' })).toBe(200)
  expect(await ask(guarded, 'DELETE /channel/others/consumer/payments/dlq', {})).toBe(200)
  expect(await ask({}, path, {})).toBe(200)
})
