import { loadConfig } from 'dlq-core/runtime/config/config.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { lastTick, nextTick, toCronItem } from './cron-job.ts'

const job = (schedule: string) => ({ name: 'test', schedule, run: async () => ({}) })
const from = new Date('2026-02-28T02:59:30.123Z')

test.each([
  ['* * * * *', '2026-02-28T03:00:00.000Z'],
  ['0 3 * * *', '2026-02-28T03:00:00.000Z'],
  ['59 2 * * *', '2026-03-01T02:59:00.000Z'],
  ['*/15 * * * *', '2026-02-28T03:00:00.000Z'],
  ['30 4 1 * *', '2026-03-01T04:30:00.000Z'],
  ['0 0 * * 1', '2026-03-02T00:00:00.000Z'],
])('the next tick of "%s" is found in UTC', (schedule, tick) => {
  expect(nextTick(job(schedule), from)?.toISOString()).toBe(tick)
})

test('a tick is after the given time, also on the minute', () => {
  const onTheMinute = new Date('2026-02-28T03:00:00.000Z')
  expect(nextTick(job('0 3 * * *'), onTheMinute)?.toISOString()).toBe('2026-03-01T03:00:00.000Z')
})

test('the last tick is before the given time, also on the minute', () => {
  expect(lastTick(job('0 3 * * *'), from)?.toISOString()).toBe('2026-02-27T03:00:00.000Z')
  const onTheMinute = new Date('2026-02-28T03:00:00.000Z')
  expect(lastTick(job('0 3 * * *'), onTheMinute)?.toISOString()).toBe('2026-02-27T03:00:00.000Z')
  expect(lastTick(job('* * * * *'), from)?.toISOString()).toBe('2026-02-28T02:59:00.000Z')
})

test('a schedule that is off, or never matches, has no tick', () => {
  expect([nextTick(job('off'), from), nextTick(job('0 0 31 2 *'), from), toCronItem(job('off'), from)]).toEqual([
    null,
    null,
    null,
  ])
})

test.each([
  ['* * * * *', '2026-02-28T02:59:30Z', []],
  ['*/30 * * * *', '2026-02-28T02:59:30Z', []],
  ['10 * * * *', '2026-02-28T02:59:30Z', ['2026-02-28T02:10']],
  ['0 3 * * *', '2026-02-28T02:59:30Z', ['2026-02-27T03:00']],
  ['0 3 * * *', '2026-02-28T03:00:30Z', ['2026-02-28T03:00']],
  ['0 3 1 */2 *', '2026-03-20T12:00:00Z', ['2026-03-01T03:00']],
  ['0 3 1 */2 *', '2026-04-20T12:00:00Z', []],
  // Before a weekend, and after it.
  ['0 3 * * 1-5', '2026-02-27T02:00:00Z', ['2026-02-26T03:00']],
  ['0 3 * * 1-5', '2026-03-01T12:00:00Z', ['2026-02-27T03:00']],
  ['0 3 * * 1-5', '2026-03-02T12:00:00Z', ['2026-03-02T03:00']],
  ['0,5 3 * * *', '2026-02-28T12:00:00Z', ['2026-02-28T03:05']],
  ['0,5 3 * * *', '2026-02-28T03:02:00Z', []],
])(
  'of the ticks of "%s" that were missed until %s, only the last one of a rare job is made up for',
  (schedule, at, made) => {
    const start = new Date(at)
    const { match, options } = toCronItem(job(schedule), start)!
    // As graphile-worker does, a moment later.
    const madeUpFor = []
    for (let ago = 50 * 24 * 60; ago > 0; ago--) {
      const tick = new Date(Math.ceil(start.getTime() / 60_000) * 60_000 - ago * 60_000)
      const [min, hour, date] = [tick.getUTCMinutes(), tick.getUTCHours(), tick.getUTCDate()]
      const isTick = match({ min, hour, date, month: tick.getUTCMonth() + 1, dow: tick.getUTCDay() })
      if (isTick && options.backfillPeriod >= start.getTime() + 500 - tick.getTime())
        madeUpFor.push(tick.toISOString().slice(0, 16))
    }
    expect(madeUpFor).toEqual(made)
  },
)

test('two ticks of a job wait for each other, in a queue of its own', () => {
  expect(toCronItem(job('* * * * *'), from)!.options.queueName).toBe('cron_test')
})

test('an invalid schedule is refused', () => {
  expect(() => toCronItem(job('0 25 * * *'), from)).toThrow(/25/)
})

test('the configuration takes the schedules that a retrier can keep, and no others', () => {
  const number = fc.integer({ min: 0, max: 61 })
  const range = fc.tuple(number, number).map((numbers) => numbers.join('-'))
  const part = fc.oneof(
    number.map(String),
    fc.constantFrom('*', '*/15', '*/0', '*/99', '', '1-5/2', '0', '1', '7', '5-7', '1-1'),
    range,
  )
  const field = fc.oneof({ weight: 3, arbitrary: fc.constant('*') }, part, fc.tuple(part, part).map(String))
  const pattern = fc.array(field, { minLength: 5, maxLength: 5 }).map((fields) => fields.join(' '))
  const succeeds = (step: () => unknown) => {
    try {
      step()
      return true
    } catch {
      return false
    }
  }
  fc.assert(
    fc.property(pattern, (purge) => {
      const isTaken = succeeds(() => loadConfig({ env: {}, yaml: JSON.stringify({ cron: { purge } }), needs: [] }))
      expect(isTaken, purge).toBe(succeeds(() => toCronItem(job(purge), from)))
    }),
  )
})
