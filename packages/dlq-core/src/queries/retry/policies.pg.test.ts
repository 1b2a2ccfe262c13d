import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { type PolicySettings, settingNames } from '../../domain/retry/policy-settings.ts'
import { deletePolicy, findPolicy, listPolicies, readChangedPolicies, upsertPolicy } from './policies.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

beforeEach(async () => {
  await database.sql`delete from dlq.dlq_policies`
})

const everything: Required<PolicySettings> = {
  auto_retry: false,
  max_retries: 240,
  backoff: 'list',
  initial_delay: 1500,
  multiplier: 2.5,
  max_delay: 366 * 86_400_000,
  backoff_list: [0, 1, 90_061_001, 1],
  run_every: 21_600_000,
  run_limit: 50,
  rate_per_second: 0.5,
  max_in_flight: 10,
  paused: true,
  redirect_topic: 'parking.v1',
  ordering: 'per-key',
  timestamp: 'now',
  weight: 7,
  payload: 'derived',
  record: 'origin',
  scrub: ['email', 'cust-[0-9]{2,4}'],
  delivery: 'pull',
  refailure_threshold: 0,
  refailure_share: 0.25,
  refailure_window: 60_000,
  for_group_header: false,
  staleness: 'hold',
  verdict_group: 'billing',
  verdict_horizon: 600_000,
  auto_resolve: 86_400_000,
  retention: 400 * 86_400_000,
}

const nothing = Object.fromEntries(settingNames.map((name) => [name, null]))

test('a policy with every setting is read back as it was written', async () => {
  const written = await upsertPolicy(service.sql, 'orders.*', everything)

  expect(written).toEqual({ pattern: 'orders.*', ...everything, updated_at: expect.any(Date) })
  expect(await findPolicy(service.sql, 'orders.*')).toEqual(written)
  expect(await listPolicies(service.sql, { scope: null })).toEqual([written])
})

test('a policy that is written again has only its new settings', async () => {
  const first = await upsertPolicy(service.sql, 'orders.*', everything)
  const second = await upsertPolicy(service.sql, 'orders.*', { paused: true })

  expect(second).toEqual({ pattern: 'orders.*', ...nothing, paused: true, updated_at: expect.any(Date) })
  expect(second.updated_at.getTime()).toBeGreaterThan(first.updated_at.getTime() - 1)
  expect(await listPolicies(service.sql, { scope: null })).toHaveLength(1)
})

test('an interval that SQL wrote in any unit is read in milliseconds', async () => {
  await database.sql`
    insert into dlq.dlq_policies (pattern, initial_delay, run_every, backoff_list, rate_per_second)
    values ('reports', '1 day 2 hours', '1 month', '{5 minutes,1 hour}', 0.1)`

  expect(await findPolicy(service.sql, 'reports')).toEqual({
    pattern: 'reports',
    ...nothing,
    initial_delay: 93_600_000,
    run_every: 30 * 86_400_000,
    backoff_list: [300_000, 3_600_000],
    rate_per_second: 0.1,
    updated_at: expect.any(Date),
  })
})

test('a policy that is deleted is gone, and there was none afterwards', async () => {
  await upsertPolicy(service.sql, '*', { weight: 2 })
  expect([await deletePolicy(service.sql, '*'), await deletePolicy(service.sql, '*')]).toEqual([true, false])
  expect(await findPolicy(service.sql, '*')).toBeNull()
})

describe('an impossible value is refused with the name of its column:', () => {
  test.each([
    ['pattern', { pattern: 'a b' }],
    ['pattern', { pattern: '' }],
    ['max_retries', { max_retries: 0 }],
    ['backoff', { backoff: 'linear' }],
    ['initial_delay', { initial_delay: '-1 second' }],
    ['multiplier', { multiplier: 'NaN' }],
    ['max_delay', { max_delay: 'infinity' }],
    ['backoff_list', { backoff_list: '{}' }],
    ['backoff_list', { backoff_list: '{5 minutes,null}' }],
    ['backoff_list', { backoff_list: '{5 minutes,-1 second}' }],
    ['backoff_list', { backoff_list: '{{5 minutes},{1 hour}}' }],
    ['backoff_list', { backoff: 'list' }],
    ['run_every', { run_every: '1 millisecond' }],
    ['run_limit', { run_limit: 0 }],
    ['rate_per_second', { rate_per_second: 0 }],
    ['rate_per_second', { rate_per_second: 'infinity' }],
    ['max_in_flight', { max_in_flight: 0 }],
    ['redirect_topic', { redirect_topic: 'no topic' }],
    ['redirect_topic', { redirect_topic: '..' }],
    ['ordering', { ordering: 'per-partition' }],
    ['timestamp', { timestamp: 'later' }],
    ['weight', { weight: 0 }],
    ['payload', { payload: 'none' }],
    ['delivery', { delivery: 'exactly-once' }],
    ['refailure_threshold', { refailure_threshold: -1 }],
    ['refailure_share', { refailure_share: 1.5 }],
    ['refailure_window', { refailure_window: '0' }],
    ['verdict_group', { verdict_group: 'g'.repeat(250) }],
    ['verdict_horizon', { verdict_horizon: '8 days' }],
    ['auto_resolve', { auto_resolve: '500 milliseconds' }],
  ])('%s of %j', async (column, row) => {
    await expect(database.sql`insert into dlq.dlq_policies ${database.sql({ pattern: '*', ...row })}`).rejects.toThrow(
      // Before PostgreSQL 17 there is no infinite interval.
      new RegExp(`violates check constraint "chk_dlq_policies_${column}(_missing)?"|for type interval: "infinity"`),
    )
  })
})

describe('the marker', () => {
  async function changed(marker: string | null) {
    return readChangedPolicies(service.sql, { marker })
  }

  test('that is unknown brings all policies, and the present one brings none', async () => {
    await upsertPolicy(service.sql, 'b', { weight: 2 })
    await upsertPolicy(service.sql, 'a', { weight: 1 })
    const read = await changed(null)

    expect(read!.policies).toEqual(await listPolicies(service.sql, { scope: null }))
    expect(read!.policies.map(({ pattern }) => pattern)).toEqual(['a', 'b'])
    expect(await changed(read!.marker)).toBeNull()
  })

  test('exists also without policies', async () => {
    expect(await changed(null)).toEqual({ marker: expect.any(String), policies: [] })
  })

  test.each([
    ['inserted', `insert into dlq.dlq_policies (pattern) values ('new')`],
    ['updated', `update dlq.dlq_policies set paused = true`],
    ['deleted', `delete from dlq.dlq_policies`],
    ['truncated', `truncate dlq.dlq_policies`],
  ])('changes when any client has %s policies', async (_, statement) => {
    await upsertPolicy(service.sql, 'a', { weight: 1 })
    const { marker } = (await changed(null))!
    await database.sql.unsafe(statement)

    expect((await changed(marker))!.policies).toEqual(await listPolicies(service.sql, { scope: null }))
  })

  test('changes for others only together with the policy, however late it is committed', async () => {
    await upsertPolicy(service.sql, 'a', { weight: 1 })
    const before = (await changed(null))!.marker
    await database.sql.begin(async (sql) => {
      await sql`update dlq.dlq_policies set weight = 2`
      expect(await changed(before)).toBeNull()
    })
    expect((await changed(before))!.policies[0]!.weight).toBe(2)
  })

  test('causes no deadlock when two transactions change the same policies in opposite order', async () => {
    const patterns = ['a', 'b', 'c', 'd']
    for (const pattern of patterns) await upsertPolicy(service.sql, pattern, { weight: 1 })
    const change = (order: readonly string[]) =>
      database.sql.begin(async (sql) => {
        for (const pattern of order)
          await sql`update dlq.dlq_policies set weight = weight + 1 where pattern = ${pattern}`
      })
    await Promise.all(Array.from({ length: 20 }, (_, n) => change(n % 2 ? patterns : patterns.toReversed())))

    expect((await listPolicies(service.sql, { scope: null })).map(({ weight }) => weight)).toEqual([21, 21, 21, 21])
  })
})
