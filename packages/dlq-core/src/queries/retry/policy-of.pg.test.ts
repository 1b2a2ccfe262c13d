// Compares the database's reading of dlq_policies with that of the services.
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { deriveAttemptId } from '../../domain/record/message-id.ts'
import { compilePolicies } from '../../domain/retry/effective-policy.ts'
import { backoffs, deliveries, nextRetryAt } from '../../domain/retry/retry-policy.ts'
import { listPolicies, upsertPolicy } from './policies.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

const patterns = [
  '*',
  'orders',
  'orders.*',
  'orders.v?',
  'ord*',
  '*.v1',
  'o_ders',
  'orders.v1',
  'orders.v1?',
  '?rders.v1',
  'a.*',
]
const maybe = <T>(values: fc.Arbitrary<T>) => fc.option(values, { freq: 2 })
const settings = fc
  .record({
    delivery: maybe(fc.constantFrom(...deliveries)),
    auto_retry: maybe(fc.boolean()),
    paused: maybe(fc.boolean()),
    max_retries: maybe(fc.integer({ min: 1, max: 1000 })),
    backoff: maybe(fc.constantFrom(...backoffs)),
    initial_delay: maybe(fc.integer({ min: 0, max: 100_000_000 })),
    multiplier: maybe(fc.integer({ min: 1, max: 100 })),
    max_delay: maybe(fc.integer({ min: 0, max: 1_000_000_000 })),
    backoff_list: fc.array(fc.integer({ min: 0, max: 1_000_000 }), { minLength: 1, maxLength: 4 }),
    run_every: maybe(fc.constantFrom(0, 1000, 3_600_000, 21_600_000)),
  })
  // A list goes only with its backoff, and the other way round.
  .map((settings) => ({ ...settings, backoff_list: settings.backoff === 'list' ? settings.backoff_list : null }))

test('each topic has the same policy and the same waits in SQL and in TypeScript', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.tuple(fc.constantFrom(...patterns), settings), {
        selector: ([pattern]) => pattern,
        maxLength: 8,
      }),
      fc.constantFrom('orders', 'orders.v1', 'orders.v12', 'a.b', 'other'),
      fc.integer({ min: 0, max: 1000 }),
      fc.date({ min: new Date('2020-01-01'), max: new Date('2040-01-01'), noInvalidDate: true }),
      async (policies, topic, retryCount, now) => {
        await service.sql`delete from dlq.dlq_policies`
        for (const [pattern, settings] of policies) await upsertPolicy(service.sql, pattern, settings)
        const rows = await listPolicies(service.sql, { scope: null })
        const { policy } = compilePolicies({ section: {}, fileEntries: [], rows })({
          original_topic: topic,
          dlq_topic: null,
        })
        const [row] = await service.sql`
          select p.delivery, p.auto_retry as "autoRetry", p.paused, p.max_retries as "maxRetries", p.backoff,
                 p.multiplier::float8 as multiplier, (extract(epoch from p.initial_delay) * 1000)::float8 as "initialDelayMs",
                 (extract(epoch from p.max_delay) * 1000)::float8 as "maxDelayMs",
                 (extract(epoch from p.run_every) * 1000)::float8 as "runEveryMs",
                 dlq.next_retry_at(${topic}, ${retryCount}::int, ${now}) as due
          from dlq.policy_of(${topic}) p`
        const { due, ...read } = row!

        expect(policy).toMatchObject(read)
        const dueBy = (random: number) => nextRetryAt(policy, retryCount, now, random)?.getTime()
        // Within the bounds of the random part, and a rounding.
        if (!policy.autoRetry) expect(due).toBeNull()
        else {
          expect(due.getTime()).toBeGreaterThanOrEqual(dueBy(1)! - 1)
          expect(due.getTime()).toBeLessThanOrEqual(dueBy(0)! + 1)
        }
      },
    ),
    { numRuns: process.env.DLQ_SOAK === '1' ? 2000 : 60 },
  )
})

type Waits = { initial_delay: string; run_every?: string; backoff_list?: string[] }

test.each<[string, Waits]>([
  ['a day of 23 hours is one of 24', { initial_delay: '1 day' }],
  ['a window of a day begins at midnight UTC where a day has 23 hours', { initial_delay: '0', run_every: '1 day' }],
  ['a month is 30 days', { initial_delay: '1 month' }],
  ['a window may be a month', { initial_delay: '0', run_every: '1 month' }],
  ['a list is read so too', { initial_delay: '0', backoff_list: ['1 day'] }],
])('waits are lengths of time: %s', async (_, { initial_delay, run_every = null, backoff_list = null }) => {
  const now = new Date('2026-03-29T00:30:00Z')
  await service.sql.begin(async (sql) => {
    await sql`set local time zone 'Europe/Berlin'`
    await sql`delete from dlq.dlq_policies`
    await sql`
      insert into dlq.dlq_policies (pattern, backoff, initial_delay, run_every, backoff_list)
      values ('orders', ${backoff_list === null ? 'fixed' : 'list'}, ${initial_delay}, ${run_every}, ${backoff_list}::text[]::interval[])`
    const rows = await listPolicies(sql, { scope: null })
    const { policy } = compilePolicies({ section: {}, fileEntries: [], rows })({
      original_topic: 'orders',
      dlq_topic: null,
    })
    const [found] = await sql`select dlq.next_retry_at('orders', 0, ${now}) as due`
    expect(found!.due).toEqual(nextRetryAt(policy, 0, now, 0))
  })
})

test('an attempt has the same id in SQL and in TypeScript', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uuid(), fc.integer({ min: 0, max: 2 ** 31 - 1 }), async (id, number) => {
      const [row] = await service.sql`select dlq.attempt_id(${id}, ${number}::int) as id`
      expect(row!.id).toBe(deriveAttemptId(id, number))
    }),
    { numRuns: 50 },
  )
})
