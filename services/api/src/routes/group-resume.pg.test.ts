// A paused error group says why, and somebody resumes it.

import { pauseGroup, startProbes } from 'dlq-core/queries/groups/group-pauses.ts'
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
    authenticate: async () => ({ actor: 'l', grants: [{ role: 'write', topics: ['pay*'] }] }),
  })(...call)
const group = '00000000-0000-8000-8000-000000000001'
const resume = (app: TestApp, body?: object) =>
  answerOf(
    app(`POST /api/v1/groups/${group}/resume`, {
      headers: { 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    }),
  )
const pausesOf = async (app: TestApp) =>
  ((await answerOf(app(`GET /api/v1/groups/${group}`))).body as { pauses: { original_topic: string }[] }).pauses

beforeEach(async () => {
  await emptyTables(
    database.sql,
    ...['dlq.dlq_group_probes', 'dlq.dlq_group_pauses', 'dlq.dlq_group_topics', 'dlq.dlq_messages', 'dlq.dlq_groups'],
    'dlq.dlq_audit',
  )
  await database.sql`
    insert into dlq.dlq_groups (id, version, error_class, message, title, first_seen_at, last_seen_at)
    values (${group}, 1, 'com.example.E', 'm', 'E', now(), now())`
  await database.sql`insert into dlq.dlq_group_topics (dlq_topic, group_id) values ('pay.dlq', ${group})`
  for (const original_topic of ['orders', 'pay']) {
    await insertMessageRow(database.sql, {
      ...{ original_topic, dlq_topic: 'pay.dlq', group_id: group, next_retry_at: new Date(4e12) },
    })
    const pause = { original_topic, group_id: group, reason: `25 of ${original_topic} failed again` }
    await pauseGroup(service.sql, { ...pause, probeAfterMs: 30_000, refails_after_ms: null })
  }
})

test('a group tells for which topics it is paused, why, since when and when it is probed next', async () => {
  await startProbes(service.sql, { original_topic: 'orders', group_id: group, ordered: false, count: 1 })
  expect(await pausesOf(request)).toEqual([
    {
      ...{ original_topic: 'orders', reason: '25 of orders failed again', failed_probes: 0 },
      ...{ since: expect.any(String), next_probe_at: null },
    },
    {
      ...{ original_topic: 'pay', reason: '25 of pay failed again', failed_probes: 0 },
      ...{ since: expect.any(String), next_probe_at: expect.any(String) },
    },
  ])
})

test('it is resumed for one topic, then for all, with an entry in the audit for each', async () => {
  expect(await resume(request, { original_topic: 'pay', reason: 'mended' })).toEqual({
    status: 200,
    body: { resumed: ['pay'] },
  })
  expect(await pausesOf(request)).toMatchObject([{ original_topic: 'orders' }])
  expect(await resume(request)).toMatchObject({ body: { resumed: ['orders'] } })
  expect((await resume(request)).status).toBe(409)
  const audit = await database.sql`select action, original_topic, reason from dlq.dlq_audit order by id`
  expect([...audit]).toEqual([
    { action: 'group.resume', original_topic: 'pay', reason: 'mended' },
    { action: 'group.resume', original_topic: 'orders', reason: null },
  ])
})

test('a limited token sees and resumes the pauses of its topics only', async () => {
  expect(await pausesOf(limited)).toMatchObject([{ original_topic: 'pay' }])
  expect((await resume(limited, { original_topic: 'orders' })).status).toBe(409)
  expect(await resume(limited)).toMatchObject({ body: { resumed: ['pay'] } })
  expect(await pausesOf(request)).toMatchObject([{ original_topic: 'orders' }])
})
