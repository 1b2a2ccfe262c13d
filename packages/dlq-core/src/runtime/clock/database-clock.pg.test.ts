import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { expect, test } from 'vitest'
import { createDatabaseClock } from './database-clock.ts'

const service = useServiceDatabase(useDatabase())
const dayMs = 86_400_000

test.each([-30 * dayMs, -60_000, 60_000, 30 * dayMs])(
  'of a process whose own clock is wrong by %i ms, it has the database’s time once it has asked',
  async (wrongMs) => {
    const clock = createDatabaseClock(service.sql, { ownNow: () => Date.now() + wrongMs })
    expect(Math.abs(clock.now().getTime() - Date.now() - wrongMs)).toBeLessThan(5000)
    await clock.measure()
    expect(Math.abs(clock.now().getTime() - Date.now())).toBeLessThan(5000)
  },
)

test('a clock that agrees with the database’s as far as the answer tells is left as it is', async () => {
  const answers = [1000, 0]
  // The answer took longer than the clocks differ.
  const slow = async () => {
    await new Promise((resolve) => setTimeout(resolve, 50))
    return [{ ms: Date.now() - 20 + answers.pop()! }]
  }
  const clock = createDatabaseClock(slow as never)
  const before = clock.now().getTime() - performance.now()
  await clock.measure()
  expect(clock.now().getTime() - performance.now()).toBeCloseTo(before, -1)
  await clock.measure()
  expect(clock.now().getTime() - performance.now()).toBeGreaterThan(before + 500)
})
