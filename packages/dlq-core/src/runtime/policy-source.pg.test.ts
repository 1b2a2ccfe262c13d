import { readFileSync } from 'node:fs'
import { connectAsService, useServiceDatabase } from 'dlq-testing/service-database.ts'
import { useDatabase } from 'dlq-testing/test-database.ts'
import { beforeEach, expect, test } from 'vitest'
import { deletePolicy, listPolicies, upsertPolicy } from '../queries/policies.ts'
import { defaultRetryPolicy } from '../retry-policy.ts'
import { createLog } from './log.ts'
import { createPolicySource } from './policy-source.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const log = createLog({ service: 'test', level: 'silent' })
const orders = { originalTopic: 'orders', dlqTopic: 'orders.dlq.v1' }

function createSource(sql = service.sql) {
  return createPolicySource({ sql, log, configured: { section: { weight: 3 }, fileEntries: [] } })
}

beforeEach(async () => {
  await database.sql`delete from dlq.dlq_policies`
})

test('a policy goes over the configuration as soon as it is read, and no longer when it is deleted', async () => {
  const source = createSource()
  await source.load()
  expect(source.policyFor(orders).policy).toEqual({ ...defaultRetryPolicy, weight: 3 })

  await upsertPolicy(service.sql, '*.dlq.v1', { weight: 9, paused: true })
  expect(source.policyFor(orders).policy.paused).toBe(false)
  expect(await source.refresh()).toEqual({ more: false, changed: true })
  expect(source.policyFor(orders).policy).toEqual({ ...defaultRetryPolicy, weight: 9, paused: true })

  await deletePolicy(service.sql, '*.dlq.v1')
  await source.refresh()
  expect(source.policyFor(orders).policy).toEqual({ ...defaultRetryPolicy, weight: 3 })
})

test('without a change the picture stays the same object, and nothing is read', async () => {
  const source = createSource()
  await source.load()
  const before = source.policyFor(orders)

  expect(await source.refresh()).toEqual({ more: false, changed: false })
  await source.load()
  expect(source.policyFor({ ...orders })).toBe(before)
})

test('who loads at the same time waits for one reading, and who refreshes then sees what was written before', async () => {
  const readings: unknown[] = []
  const counting = { ...log, info: (reading: unknown) => void readings.push(reading) } as typeof log
  const source = createPolicySource({ sql: service.sql, log: counting, configured: { section: {}, fileEntries: [] } })
  await Promise.all(Array.from({ length: 20 }, () => source.load()))
  expect(readings).toHaveLength(1)

  const refreshing = Array.from({ length: 20 }, async (_, n) => {
    await upsertPolicy(service.sql, 'orders', { weight: n + 1 })
    await source.refresh()
  })
  await Promise.all(refreshing)
  const [row] = await listPolicies(service.sql, { scope: null })
  expect(source.policyFor(orders).policy.weight).toBe(row!.weight)
})

test('topics whose names run together are told apart', async () => {
  await upsertPolicy(service.sql, 'a', { weight: 1 })
  await upsertPolicy(service.sql, 'b', { weight: 2 })
  const source = createSource()
  await source.load()
  const weights = [
    { originalTopic: 'a', dlqTopic: 'b' },
    { originalTopic: 'b', dlqTopic: 'a' },
    { originalTopic: 'ab', dlqTopic: null },
    { originalTopic: 'x', dlqTopic: 'b' },
  ].map((topics) => source.policyFor(topics).policy.weight)
  expect(weights).toEqual([1, 2, 3, 2])
})

test('more topics than are remembered are answered all the same', async () => {
  await upsertPolicy(service.sql, 'topic-12345', { weight: 8 })
  const source = createSource()
  await source.load()
  const heavy = Array.from({ length: 25_000 }, (_, n) => `topic-${n}`).filter(
    (originalTopic) => source.policyFor({ originalTopic, dlqTopic: null }).policy.weight === 8,
  )
  expect(heavy).toEqual(['topic-12345'])
})

test('while the database is away the last picture stays, and afterwards the change is seen', async () => {
  const sql = connectAsService(database.url)
  const source = createSource(sql)
  await upsertPolicy(service.sql, 'orders', { weight: 5 })
  await source.load()
  await sql.end({ timeout: 1 })
  await expect(source.refresh()).rejects.toThrow()
  await source.load()
  expect(source.policyFor(orders).policy.weight).toBe(5)
})

test('before the policies could be read once, none is guessed', async () => {
  const sql = connectAsService(database.url)
  await sql.end({ timeout: 1 })
  const source = createSource(sql)
  await expect(source.load()).rejects.toThrow()
  expect(() => source.policyFor(orders)).toThrow('before load()')
})

test('the handbook’s examples in SQL are policies that mean what they say', async () => {
  const handbook = readFileSync(new URL('../../../../infra/docs/policies.md', import.meta.url), 'utf8')
  const examples = [...handbook.matchAll(/^```sql\n(.*?)^```/gms)].map(([, statement]) => statement!)
  expect(examples).toHaveLength(3)
  for (const example of examples) await database.sql.unsafe(example)
  const source = createSource()
  await source.load()
  const policyOf = (originalTopic: string) => source.policyFor({ originalTopic, dlqTopic: null }).policy

  expect(policyOf('reports.daily')).toMatchObject({
    maxRetries: 240,
    backoff: 'fixed',
    initialDelayMs: 0,
    runEveryMs: 21_600_000,
    runLimit: 50,
    refailureThreshold: null,
    paused: true,
  })
  expect(policyOf('orders.v1')).toMatchObject({
    maxRetries: 3,
    backoffListMs: [60_000, 3_600_000, 86_400_000],
    ratePerSecond: 20,
    paused: true,
  })
  expect(policyOf('payments.v1').paused).toBe(false)
})
