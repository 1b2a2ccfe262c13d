import { readFileSync } from 'node:fs'
import { connectAsService, useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { beforeEach, expect, test } from 'vitest'
import { defaultRetryPolicy } from '../domain/retry/retry-policy.ts'
import { deletePolicy, listPolicies, upsertPolicy } from '../queries/retry/policies.ts'
import { createLog } from './log.ts'
import { createPolicySource } from './policy-source.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const log = createLog({ service: 'test', level: 'silent' })
const orders = { original_topic: 'orders', dlq_topic: 'orders.dlq.v1' }

function createSource(sql = service.sql) {
  return createPolicySource({ sql, log, configured: { section: { weight: 3 }, fileEntries: [] } })
}

beforeEach(async () => {
  await database.sql`delete from dlq.dlq_policies`
})

test('a policy wins over the configuration as soon as it is read, until it is deleted', async () => {
  const source = createSource()
  await source.load()
  expect(source.policyOf(orders)).toEqual({ ...defaultRetryPolicy, weight: 3 })

  await upsertPolicy(service.sql, '*.dlq.v1', { weight: 9, paused: true })
  expect(source.policyOf(orders).paused).toBe(false)
  expect(await source.refresh()).toEqual({ more: false, changed: true })
  expect(source.policyOf(orders)).toEqual({ ...defaultRetryPolicy, weight: 9, paused: true })

  await deletePolicy(service.sql, '*.dlq.v1')
  await source.refresh()
  expect(source.policyOf(orders)).toEqual({ ...defaultRetryPolicy, weight: 3 })
})

test('whether any policy asks about newer records is known as soon as it is read', async () => {
  const source = createSource()
  expect(() => source.mayAskAboutNewer()).toThrow('before load()')
  await source.load()
  expect(source.mayAskAboutNewer()).toBe(false)

  await upsertPolicy(service.sql, 'orders', { staleness: 'hold' })
  await source.refresh()
  expect(source.mayAskAboutNewer()).toBe(true)

  await deletePolicy(service.sql, 'orders')
  await source.refresh()
  expect(source.mayAskAboutNewer()).toBe(false)
})

test('without a change the policies stay the same object, and no policy is read', async () => {
  const source = createSource()
  await source.load()
  const before = source.effectivePolicyOf(orders)

  expect(await source.refresh()).toEqual({ more: false, changed: false })
  await source.load()
  expect(source.effectivePolicyOf({ ...orders })).toBe(before)
})

test('concurrent loads share one reading, and a refresh then sees everything written before it', async () => {
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
  expect(source.policyOf(orders).weight).toBe(row!.weight)
})

test('topics whose names run together are told apart', async () => {
  await upsertPolicy(service.sql, 'a', { weight: 1 })
  await upsertPolicy(service.sql, 'b', { weight: 2 })
  const source = createSource()
  await source.load()
  const weights = [
    { original_topic: 'a', dlq_topic: 'b' },
    { original_topic: 'b', dlq_topic: 'a' },
    { original_topic: 'ab', dlq_topic: null },
    { original_topic: 'x', dlq_topic: 'b' },
  ].map((topics) => source.policyOf(topics).weight)
  expect(weights).toEqual([1, 2, 3, 2])
})

test('topics beyond the size of the memory are answered all the same', async () => {
  await upsertPolicy(service.sql, 'topic-12345', { weight: 8 })
  const source = createSource()
  await source.load()
  const heavy = Array.from({ length: 25_000 }, (_, n) => `topic-${n}`).filter(
    (original_topic) => source.policyOf({ original_topic, dlq_topic: null }).weight === 8,
  )
  expect(heavy).toEqual(['topic-12345'])
})

test('while the database is away the last policies stay, and afterwards the change is seen', async () => {
  const sql = connectAsService(database.url)
  const source = createSource(sql)
  await upsertPolicy(service.sql, 'orders', { weight: 5 })
  await source.load()
  await sql.end({ timeout: 1 })
  await expect(source.refresh()).rejects.toThrow()
  await source.load()
  expect(source.policyOf(orders).weight).toBe(5)
})

test('before the policies were read once, none is guessed', async () => {
  const sql = connectAsService(database.url)
  await sql.end({ timeout: 1 })
  const source = createSource(sql)
  await expect(source.load()).rejects.toThrow()
  expect(() => source.policyOf(orders)).toThrow('before load()')
})

test('the handbook’s examples in SQL are policies with the effects that it describes', async () => {
  const handbook = readFileSync(new URL('../../../../infra/docs/policies.md', import.meta.url), 'utf8')
  const examples = [...handbook.matchAll(/^```sql\n(.*?)^```/gms)].map(([, statement]) => statement!)
  expect(examples).toHaveLength(3)
  for (const example of examples) await database.sql.unsafe(example)
  const source = createSource()
  await source.load()
  const policyOf = (original_topic: string) => source.policyOf({ original_topic, dlq_topic: null })

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
