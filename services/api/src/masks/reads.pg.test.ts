// Who was shown what behind masks is in dlq_reads before the first byte leaves; where it cannot be, nothing is shown.
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { createMasks } from 'dlq-core/domain/masks/create-masks.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { untilWaitingForLock } from 'dlq-testing/postgres/lock-waits.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { createTestApp, type TestAppOptions } from '../test-app.ts'
import { canary, canaryMasks, hasCanary, type Planted, plantCanary } from './test-canary.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

const sha256 = createHash('sha256').update('secret').digest('hex')
const auth = { tokens: [{ name: 'anna', role: 'sys_admin' as const, payloads: 'full' as const, sha256 }] }

let planted: Planted
beforeAll(async () => {
  planted = await plantCanary(database, service.sql)
})
beforeEach(() => emptyTables(database.sql, 'dlq.dlq_reads'))

const ask = (path: string, { method = 'GET', ...settings }: TestAppOptions & { method?: string } = {}) =>
  createTestApp(service.sql, { auth, masks: createMasks(canaryMasks, undefined), ...settings })(`${method} ${path}`, {
    headers: { authorization: 'Bearer secret', 'x-request-id': 'req_1' },
  })

const reads = async () => [
  ...(await database.sql`select actor, request_id, action, target, ids, filter, shown::int, reason from dlq.dlq_reads order by at, id`),
]

const message = () => `/api/v1/dlq/messages/${planted.id}`

test('a message, its bytes, a list and an export are recorded, with who, what and why', async () => {
  for (const path of [`${message()}?unmask=true&reason=ticket+7`, `${message()}/value?unmask=true`]) {
    const answer = await ask(path)
    expect([answer.status, hasCanary(await answer.text())]).toEqual([200, true])
  }
  await (await ask('/api/v1/messages?unmask=true&limit=2&status=PENDING')).text()
  await (await ask(`/api/v1/messages/export?unmask=true&key=${canary}`)).text()
  const by = { actor: 'anna', request_id: 'req_1', reason: null }
  // How much an export has shown is noted behind its last line.
  await expect.poll(reads).toEqual([
    {
      ...by,
      action: 'GET /api/v1/dlq/messages/:id',
      target: planted.id,
      ids: [planted.id],
      filter: null,
      shown: 1,
      reason: 'ticket 7',
    },
    {
      ...by,
      action: 'GET /api/v1/dlq/messages/:id/value',
      target: planted.id,
      ids: [planted.id],
      filter: null,
      shown: 1,
    },
    {
      ...by,
      action: 'GET /api/v1/messages',
      target: null,
      ids: [expect.any(String), expect.any(String)],
      filter: { status: ['PENDING'] },
      shown: 2,
    },
    {
      ...by,
      action: 'GET /api/v1/messages/export',
      target: null,
      ids: [],
      filter: { key: canary, format: 'ndjson' },
      shown: 3,
    },
  ])
})

test('what an export has shown is recorded, also where it ended before its read was', async () => {
  // In an object, because a promise would be waited for within the transaction.
  const { asked } = await database.sql.begin(async (other) => {
    await other`lock table dlq.dlq_reads in share mode`
    const asked = ask(`/api/v1/messages/export?unmask=true&key=${canary}`)
    await untilWaitingForLock(database)
    // The export needs no lock, and takes some milliseconds.
    await sleep(500)
    return { asked }
  })
  expect(hasCanary(await (await asked).text())).toBe(true)
  expect(await reads()).toMatchObject([{ shown: 3 }])
})

test('what is masked, and what no mask goes for, is not recorded', async () => {
  const unmasked = await insertMessageRow(database.sql, { original_topic: 'payments' })
  for (const path of [message(), `/api/v1/dlq/messages/${unmasked}?unmask=true`])
    expect((await ask(path)).status).toBe(200)
  expect(await reads()).toEqual([])
})

test('a question about content is recorded where it finds nothing, too', async () => {
  expect((await ask('/api/v1/messages?unmask=true&key=nobody')).status).toBe(200)
  expect(await reads()).toMatchObject([{ ids: [], shown: 0, filter: { key: 'nobody' } }])
})

test('a reason is demanded where the configuration says so', async () => {
  const required = { unmaskReason: 'required' } as const
  for (const query of ['unmask=true', 'unmask=true&reason=', 'unmask=true&reason=+'])
    expect((await ask(`${message()}?${query}`, required)).status, query).toBe(400)
  expect((await ask(`${message()}?unmask=true&reason=ticket`, required)).status).toBe(200)
  expect((await ask(message(), required)).status).toBe(200)
})

test('without unmask a reason means nothing, and is refused where the body has one', async () => {
  expect((await ask(`${message()}?reason=ticket`)).status).toBe(200)
  const refused = await ask(`${message()}/retry?reason=ticket`, { method: 'POST' })
  expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('query parameter: reason')])
})

test('without the record nothing is shown: 503', async () => {
  await database.sql.unsafe('alter table dlq.dlq_reads rename to away')
  try {
    for (const path of [
      message(),
      `${message()}/value`,
      '/api/v1/messages',
      '/api/v1/messages/export',
      `/api/v1/runs/${planted.runId}/events`,
    ]) {
      const answer = await ask(`${path}?unmask=true`)
      expect([path, answer.status]).toEqual([path, 503])
      expect(hasCanary(await answer.text())).toBe(false)
    }
    expect((await ask(message())).status).toBe(200)
  } finally {
    await database.sql.unsafe('alter table dlq.away rename to dlq_reads')
  }
})
