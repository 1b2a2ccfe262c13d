import { expect, test } from 'vitest'
import { createFaultNews, serializeError } from './log.ts'

test('an error of a schema that lacks migrations says in the log what to do', () => {
  const error = Object.assign(new Error('column "a" does not exist'), { code: '42703', query: 'select a' })
  expect(serializeError(error)).toEqual({
    name: 'Error',
    message: 'column "a" does not exist',
    code: '42703',
    hint: 'the database lacks what this version asks for: run its migrations (node db/migrate.ts up)',
    stack: error.stack,
  })
  expect(serializeError(Object.assign(error, { code: '23505' }))).toMatchObject({ hint: undefined })
})

test('a fault that stays is news six times, and then once a minute; another one at once', () => {
  const clock = { ms: 0 }
  const isNews = createFaultNews({ now: () => clock.ms })
  const told: number[] = []
  for (let second = 1; second <= 200; second += 1) {
    clock.ms = second * 1000
    if (isNews(new Error(second === 100 ? 'full' : 'away'))) told.push(second)
  }
  expect(told).toEqual([1, 2, 3, 4, 5, 6, 66, 100, 101, 161])
})
