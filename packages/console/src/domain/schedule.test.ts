import { expect, test } from 'vitest'
import { scheduleFault, scheduleRequest } from './schedule.ts'

const now = new Date('2026-02-20T12:00:00Z')
const asked = { at: '', tries: '3', before: { max_retries: 3 }, reason: ' ' }

test('only what differs is asked for', () => {
  expect(scheduleRequest({ ...asked, choice: 'hour' }, { now, zone: 'utc' })).toEqual({
    next_retry_at: '2026-02-20T13:00:00.000Z',
  })
  expect(
    scheduleRequest({ ...asked, choice: 'never', tries: '5', reason: 'the supplier is down' }, { now, zone: 'utc' }),
  ).toEqual({
    next_retry_at: null,
    max_retries: 5,
    reason: 'the supplier is down',
  })
})

test('a time and a number of attempts that are none are named', () => {
  expect(scheduleFault({ choice: 'at', at: '', tries: '1.5' })).toEqual({
    at: 'Choose a day and a time.',
    tries: 'A whole number from 1 to 1000.',
  })
  expect(scheduleFault({ choice: 'now', at: '', tries: '1' })).toEqual({ at: null, tries: null })
})
