import { expect, test } from 'vitest'
import { choiceOf, untilOf } from './pause-for.ts'

const now = new Date('2026-11-22T12:00:00Z')

test('a pause ends after what was chosen or typed, or is open', () => {
  expect(untilOf('2h', '', { now, zone: 'utc' })).toEqual({ until: '2026-11-22T14:00:00.000Z', fault: null })
  expect(untilOf('other', ' 1h30m ', { now, zone: 'utc' })).toEqual({ until: '2026-11-22T13:30:00.000Z', fault: null })
  expect(untilOf('other', '2026-11-23T08:00Z', { now, zone: 'utc' })).toEqual({
    until: '2026-11-23T08:00:00.000Z',
    fault: null,
  })
  expect(untilOf('open', '', { now, zone: 'utc' })).toEqual({ until: null, fault: null })
})

test('what is no time, and what is past, is refused with the remedy', () => {
  for (const typed of ['', '90', 'soon', '2h later'])
    expect(untilOf('other', typed, { now, zone: 'utc' }).fault).toMatch(/such as 45m/)
  expect(untilOf('other', '2026-11-22T11:00Z', { now, zone: 'utc' }).fault).toBe('This is not in the future.')
})

test('a length of time is one of the choices where there is one for it', () => {
  expect([choiceOf('2h'), choiceOf('45m'), choiceOf(null)]).toEqual(['2h', 'other', 'open'])
})
