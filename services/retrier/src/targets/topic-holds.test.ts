import { beforeEach, describe, expect, test } from 'vitest'
import { createTopicHolds, type TopicHolds } from './topic-holds.ts'

let now: number
let holds: TopicHolds
let changes: [string, string | null][]

beforeEach(() => {
  now = Date.parse('2026-06-01T12:00:00Z')
  changes = []
  holds = createTopicHolds({ now: () => now, onChange: (...change) => changes.push(change) })
})

const refuse = (count: number, { refusesTopic = false } = {}) =>
  holds.refused('narrow', { count, reason: 'too large', refusesTopic })

test('a topic of which eight records are refused in a row is held with the reason, and gets little of a batch', () => {
  refuse(7)
  expect([holds.mostOf('narrow', 500), holds.list()]).toEqual([500, []])
  refuse(1)
  expect([holds.mostOf('narrow', 500), holds.restMs('narrow')]).toEqual([0, 1000])
  now += 1000
  expect(holds.mostOf('narrow', 500)).toBe(20)
  expect(holds.list()).toEqual([{ topic: 'narrow', reason: 'too large', since: new Date(now - 1000) }])
  expect(holds.mostOf('wide', 500)).toBe(500)
  // Told once, not at every refusal.
  refuse(3)
  expect(changes).toEqual([['narrow', 'too large']])
})

test('a published record ends the hold, and the row of refusals', () => {
  refuse(7)
  holds.published('narrow')
  refuse(7)
  expect(holds.list()).toEqual([])
  refuse(1)
  holds.published('narrow')
  expect([holds.list(), holds.mostOf('narrow', 500)]).toEqual([[], 500])
  expect(changes).toEqual([
    ['narrow', 'too large'],
    ['narrow', null],
  ])
})

test('a topic that refuses everything is probed after a second, and less and less often, but every minute', () => {
  const rests = Array.from({ length: 9 }, () => {
    refuse(8, { refusesTopic: true })
    const rest = holds.restMs('narrow')
    expect(holds.mostOf('narrow', 500)).toBe(0)
    now += rest
    expect(holds.mostOf('narrow', 500)).toBe(20)
    return rest / 1000
  })
  expect(rests).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60])
})

test('a topic that refuses some of its records is probed every second, however many were refused', () => {
  const rests = Array.from({ length: 4 }, () => {
    refuse(8)
    const rest = holds.restMs('narrow')
    now += rest
    return rest
  })
  expect(rests).toEqual([1000, 1000, 1000, 1000])
})

describe('a topic of which Kafka refused something', () => {
  test('rests no more once a record is taken', () => {
    holds.spent('narrow', 10)
    refuse(8)
    expect(holds.restMs('narrow')).toBe(1000)
    holds.published('narrow')
    expect(holds.restMs('narrow')).toBe(0)
  })

  test('does not go beside others for a minute', () => {
    holds.spent('narrow', 50)
    expect(holds.isDoubtful('narrow')).toBe(true)
    now += 60_000
    expect([holds.isDoubtful('narrow'), holds.isDoubtful('wide')]).toEqual([false, false])
  })

  test('may take half a second of Kafka’s time, and then a fiftieth of it', () => {
    holds.spent('narrow', 500)
    expect(holds.restMs('narrow')).toBe(0)
    holds.spent('narrow', 200)
    expect(holds.restMs('narrow')).toBeCloseTo(10_000)
    expect(holds.mostOf('narrow', 500)).toBe(0)
    now += 10_000
    expect(holds.mostOf('narrow', 500)).toBe(500)
  })

  test('rests also where others of its records are taken', () => {
    holds.spent('narrow', 3000)
    holds.published('narrow')
    expect(holds.restMs('narrow')).toBeCloseTo(125_000)
  })

  test('is probed with one record while it is held', () => {
    holds.spent('narrow', 10)
    refuse(8)
    now += holds.restMs('narrow')
    expect(holds.mostOf('narrow', 500)).toBe(1)
  })

  test('is searched by one slot, and rests for the others until that one has finished', () => {
    const [one, other] = [{}, {}]
    expect([holds.search('narrow', one), holds.search('narrow', other)]).toEqual([true, false])
    expect([holds.search('narrow', one), holds.search('wide', other)]).toEqual([true, true])
    expect([holds.mostOf('narrow', 500), holds.restMs('narrow')]).toEqual([0, 1000])
    holds.published('narrow')
    expect(holds.search('narrow', other)).toBe(false)
    holds.endSearches(one)
    expect([holds.restMs('narrow'), holds.search('narrow', other)]).toEqual([0, true])
  })
})
