import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from 'dlq-testing/eventually.ts'
import { untilWaitingForLock } from 'dlq-testing/postgres/lock-waits.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { describe, expect, test } from 'vitest'
import { defaultRetryPolicy, type RetryPolicy, sharedLimitsOf } from '../../domain/retry/retry-policy.ts'
import { deleteRunBuckets, type Grant, returnTokens, returnWindowTokens, runBucket, takeTokens } from './rate-limits.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

const start = Date.parse('2026-02-20T10:30:00Z')
const second = 1000
const hour = 3_600_000

/** A new topic with limits, whose clock the test moves. */
function limitedTopic(policy: Partial<RetryPolicy>) {
  const topic = randomUUID()
  const limits = (changed: Partial<RetryPolicy> = {}) =>
    sharedLimitsOf({ ...defaultRetryPolicy, ...policy, ...changed })!
  return {
    topic,
    /** Takes at `atMs` after the start. */
    async take(wanted: number, atMs: number, changed: Partial<RetryPolicy> = {}): Promise<Grant> {
      const now = new Date(start + atMs)
      const [grant] = await takeTokens(service.sql, [{ topic, wanted, ...limits(changed) }], { now })
      return grant!
    },
    /** Takes by the database's clock. */
    async takeNow(wanted: number): Promise<number> {
      const [grant] = await takeTokens(service.sql, [{ topic, wanted, ...limits() }])
      return grant!.granted
    },
  }
}

describe('a rate of ten per second', () => {
  test('grants the wanted tokens while the bucket has them, and never more', async () => {
    const { take } = limitedTopic({ ratePerSecond: 10 })
    const granted = []
    for (const [wanted, at] of [
      [4, 0],
      [4, 0],
      [4, 0],
      [4, 0],
      [4, 250],
      [0, 300],
      [9, 700],
    ] as const)
      granted.push((await take(wanted, at)).granted)

    expect(granted).toEqual([4, 4, 2, 0, 2, 0, 5])
  })

  test('saves up for one second and no longer', async () => {
    const { take } = limitedTopic({ ratePerSecond: 10 })
    expect((await take(100, 0)).granted).toBe(10)
    expect((await take(100, hour)).granted).toBe(10)
    expect((await take(100, hour + 99)).granted).toBe(0)
  })

  test('takes unused tokens back, as far as the bucket holds them', async () => {
    const { take } = limitedTopic({ ratePerSecond: 10 })
    const grant = await take(8, 0)
    await returnTokens(service.sql, [{ ...grant, granted: 5 }])
    expect((await take(100, 0)).granted).toBe(7)

    await returnTokens(service.sql, [{ ...grant, granted: 5 }])
    expect((await take(100, 10 * second)).granted).toBe(10)
  })

  test('changes to another rate at once', async () => {
    const { take } = limitedTopic({ ratePerSecond: 10 })
    await take(10, 0)
    expect((await take(100, 100, { ratePerSecond: 1000 })).granted).toBe(100)
    expect((await take(100, 1100, { ratePerSecond: 2 })).granted).toBe(2)
  })

  test('is kept when the clock was set back by an hour, and a clock a little behind gains nothing', async () => {
    const { take } = limitedTopic({ ratePerSecond: 10 })
    await take(10, hour)
    expect((await take(10, hour - 500)).granted).toBe(0)
    expect((await take(10, hour)).granted).toBe(0)
    expect((await take(10, 0)).granted).toBe(0)
    expect((await take(10, 500)).granted).toBe(5)
  })
})

test('a rate of one in ten seconds is kept, however often somebody asks', async () => {
  const { take } = limitedTopic({ ratePerSecond: 0.1 })
  const times = []
  for (let at = 0; at <= 60 * second; at += 500) if ((await take(5, at)).granted > 0) times.push(at / second)
  expect(times).toEqual([0, 10, 20, 30, 40, 50, 60])
})

test('four who take about twice a second at a rate of 100 get 95 to 105 per second together', async () => {
  const { take } = limitedTopic({ ratePerSecond: 100 })
  await take(100, 0)
  const times = Array.from({ length: 4 }, (_, taker) =>
    Array.from({ length: 25 }, (_, n) => taker * 130 + n * (430 + taker * 37)),
  )
  const taken: { at: number; granted: number }[] = []
  for (const at of times.flat().toSorted((a, b) => a - b)) taken.push({ at, granted: (await take(500, at)).granted })

  // Any five seconds that begin and end with a call.
  for (const [index, { at: begin }] of taken.entries()) {
    const end = taken.findLast(({ at }) => at <= begin + 5 * second)!.at
    if (end - begin < 4.8 * second) break
    const granted = taken.slice(index + 1).reduce((sum, { at, granted }) => (at <= end ? sum + granted : sum), 0)
    const perSecond = granted / ((end - begin) / second)
    expect(perSecond).toBeGreaterThanOrEqual(95)
    expect(perSecond).toBeLessThanOrEqual(105)
  }
})

test('by the database’s clock, four busy connections get all tokens of the rate, and no more', async () => {
  const { topic, takeNow } = limitedTopic({ ratePerSecond: 100 })
  const readBucket = async () => {
    const [row] = await database.sql<{ tokens: number; at: number }[]>`
      select tokens, extract(epoch from refilled_at)::float8 as at from dlq.dlq_rate_buckets where topic = ${topic}`
    return row!
  }
  /** The tokens granted in a second, and those that the rate had added by then. */
  const takeForASecond = async () => {
    const before = await readBucket()
    const end = performance.now() + second
    let granted = 0
    const work = async () => {
      for (; performance.now() < end; await sleep(5)) {
        const more = await takeNow(50)
        granted += more
      }
    }
    await Promise.all([1, 2, 3, 4].map(work))
    const after = await readBucket()
    return { granted, grown: before.tokens - after.tokens + 100 * (after.at - before.at) }
  }
  await takeNow(100)
  const taken: Awaited<ReturnType<typeof takeForASecond>>[] = []
  // Repeats where the machine stood still for the second that a bucket saves up for.
  await eventually(async () => {
    taken.push(await takeForASecond())
    const { granted, grown } = taken.at(-1)!
    expect(granted).toBeGreaterThan(grown - 0.01)
  })
  for (const { granted, grown } of taken) expect(granted).toBeLessThan(grown + 0.01)
})

test('tokens that many callers take and give back at once are neither lost nor created', async () => {
  const { topic, take } = limitedTopic({ ratePerSecond: 1000 })
  let held = 0
  await Promise.all(
    Array.from({ length: 8 }, async (_, taker) => {
      for (let n = 0; n < 25; n += 1) {
        const grant = await take(1 + ((taker * 7 + n) % 60), 0)
        const unused = Math.floor(grant.granted / 2)
        held += grant.granted - unused
        await returnTokens(service.sql, [{ ...grant, granted: unused }])
      }
    }),
  )
  const [row] = await database.sql`select tokens from dlq.dlq_rate_buckets where topic = ${topic}`
  expect(held + row!.tokens).toBe(1000)
})

test('many callers that name the same topics in different orders do not deadlock', async () => {
  const topics = ['x', 'y', 'z'].map(() => randomUUID())
  const limits = sharedLimitsOf({ ...defaultRetryPolicy, ratePerSecond: 1000 })!
  const now = new Date(start)
  const grants = await Promise.all(
    Array.from({ length: 40 }, async (_, n) => {
      const requests = topics.map((topic) => ({ topic, wanted: 10, ...limits }))
      const grants = await takeTokens(service.sql, n % 2 ? requests : requests.toReversed(), { now })
      await returnTokens(
        service.sql,
        (n % 3 ? grants : grants.toReversed()).map((grant) => ({ ...grant, granted: 1 })),
      )
      return grants
    }),
  )
  for (const topic of topics) {
    const granted = grants.flat().filter((grant) => grant.topic === topic)
    expect(granted.reduce((sum, grant) => sum + grant.granted, 0)).toBe(400)
  }
})

test('a call without topics grants nothing, without a query', async () => {
  expect(await takeTokens(service.sql, [])).toEqual([])
  await returnTokens(service.sql, [])
})

describe('a topic that is retried in windows of fifty every six hours', () => {
  const wayfair = { backoff: 'fixed', initialDelayMs: 0, maxRetries: 240, runEveryMs: 6 * hour, runLimit: 50 } as const

  test('sends fifty in a window, by any callers in any portions, and fifty in the next', async () => {
    const { take } = limitedTopic(wayfair)
    const granted = []
    // 10:30 is in the window of 06:00; the next ones start at 12:00 and at 18:00.
    for (const [wanted, at] of [
      [30, 0],
      [30, 60 * second],
      [30, hour],
      [500, 1.5 * hour],
      [10, 1.6 * hour],
      [20, 7.4 * hour],
      [20, 7.5 * hour],
    ] as const)
      granted.push((await take(wanted, at)).granted)

    expect(granted).toEqual([30, 20, 0, 50, 0, 0, 20])
  })

  test('gives returned tokens to the same window only', async () => {
    const { take } = limitedTopic(wayfair)
    const grant = await take(50, 0)
    expect(grant).toMatchObject({ granted: 50, run_started_at: new Date('2026-02-20T06:00:00Z') })
    await returnTokens(service.sql, [{ ...grant, granted: 8 }])
    expect((await take(50, 0)).granted).toBe(8)

    expect((await take(45, 2 * hour)).granted).toBe(45)
    await returnTokens(service.sql, [{ ...grant, granted: 8 }])
    expect((await take(50, 2 * hour)).granted).toBe(5)
  })

  test('follows a larger limit at once, and begins no second window when the interval changes', async () => {
    const { take } = limitedTopic(wayfair)
    expect((await take(100, 0)).granted).toBe(50)
    expect((await take(100, 0, { runLimit: 60 })).granted).toBe(10)
    expect((await take(100, 0, { runLimit: 20 })).granted).toBe(0)
    // The window of 10:00 is a new one; back at six hours, that of 06:00 is not.
    expect((await take(100, 0, { runEveryMs: hour })).granted).toBe(50)
    expect((await take(100, 0)).granted).toBe(0)
    expect((await take(100, 1.5 * hour)).granted).toBe(50)
  })

  test('gets back what a dead retrier took, as long as the window is the one of its claim', async () => {
    const { topic, take } = limitedTopic(wayfair)
    await take(50, 0)
    await returnWindowTokens(service.sql, { claimedAt: new Date(start), unused: [{ topic, count: 20 }] })
    expect((await take(100, 0)).granted).toBe(20)

    // Waits for another retrier that begins the next window.
    const returning = await service.sql.begin(async (sql) => {
      const next = { topic, wanted: 50, ...sharedLimitsOf({ ...defaultRetryPolicy, ...wayfair })! }
      await takeTokens(sql, [next], { now: new Date(start + 1.5 * hour) })
      const returned = returnWindowTokens(service.sql, { claimedAt: new Date(start), unused: [{ topic, count: 20 }] })
      await untilWaitingForLock(database)
      return { returned }
    })
    await returning.returned
    expect((await take(100, 1.5 * hour)).granted).toBe(0)
    await returnWindowTokens(service.sql, { claimedAt: new Date(start), unused: [{ topic, count: 20 }] })
    expect((await take(100, 1.5 * hour)).granted).toBe(0)
  })

  test('may have a rate as well, and keeps both', async () => {
    const { take } = limitedTopic({ ...wayfair, ratePerSecond: 20 })
    const granted = []
    for (const at of [0, 1, 2, 3, 4]) granted.push((await take(500, at * second)).granted)
    expect(granted).toEqual([20, 20, 10, 0, 0])
  })

  test('starts again when the clock was wrong', async () => {
    const { take } = limitedTopic(wayfair)
    await take(50, 365 * 24 * hour)
    expect((await take(50, 0)).granted).toBe(50)
    expect((await take(50, 0)).granted).toBe(0)
  })

  test('starts its windows when nextRunAt says so, whatever the interval', async () => {
    for (const every of [second, 7 * 60 * second, 6 * hour, 24 * hour, 7 * 24 * hour]) {
      const { run_started_at } = await limitedTopic({ runEveryMs: every, runLimit: 1 }).take(1, 12_345)
      expect(run_started_at!.getTime()).toBe(Math.floor((start + 12_345) / every) * every)
    }
  })
})

test('the bucket of a run is kept until the run has ended', async () => {
  const { sql } = service
  const [ended, unfinished, deleted] = [randomUUID(), randomUUID(), randomUUID()]
  for (const id of [ended, unfinished])
    await database.sql`
      insert into dlq.dlq_runs (id, kind, actor, selection, until_id, matched, matched_relation, ended_at, status)
      values (${id}, 'retry', 'maria', '{}', ${id}, 0, 'eq', ${id === ended ? new Date() : null}, ${id === ended ? 'completed' : 'running'})`
  const topic = limitedTopic({ ratePerSecond: 1 })
  await topic.takeNow(1)
  const limits = { ratePerSecond: 1, burst: 1, runEveryMs: null, runLimit: null, wanted: 1 }
  await takeTokens(
    sql,
    [ended, unfinished, deleted].map((id) => ({ ...limits, topic: runBucket(id) })),
  )
  const left = async () => {
    const rows = await database.sql`
      select topic from dlq.dlq_rate_buckets where topic = ${topic.topic} or topic like 'run:%'`
    return rows.map((row) => row.topic).toSorted()
  }
  expect(await left()).toHaveLength(4)
  expect([await deleteRunBuckets(sql, { limit: 1 }), await deleteRunBuckets(sql, { limit: 10 })]).toEqual([1, 1])
  expect(await deleteRunBuckets(sql, { limit: 10 })).toBe(0)
  expect(await left()).toEqual([topic.topic, runBucket(unfinished)].toSorted())
})
