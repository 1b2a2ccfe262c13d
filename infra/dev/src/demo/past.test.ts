import { expect, test } from 'vitest'
import { demoFailures, faultIn } from './failures.ts'
import { makePast } from './past.ts'

const now = Date.UTC(2026, 8, 20, 15)
const past = makePast(now)
const hoursAgo = ({ at }: { at: number }) => (now - at) / 3_600_000
const of = (kind: string) => past.filter(({ failure }) => failure.kind === kind)

test('the past is one day, of six kinds in three topics, the oldest first', () => {
  expect(past).toHaveLength(1500)
  expect(new Set(past.map(({ failure }) => failure.kind)).size).toBe(6)
  expect(new Set(past.map(({ failure }) => failure.topic)).size).toBe(3)
  expect(past.every((one) => hoursAgo(one) > 0 && hoursAgo(one) < 24.1)).toBe(true)
  expect(past.map(({ at }) => at)).toEqual(past.map(({ at }) => at).toSorted((a, b) => a - b))
  expect(new Set(past.map(({ id }) => id)).size).toBe(past.length)
  expect(makePast(now)).toEqual(past)
})

test('each kind has a shape of its own', () => {
  const within = (kind: string, from: number, to: number) =>
    of(kind).filter((one) => hoursAgo(one) >= from && hoursAgo(one) < to).length
  expect(within('amount', 0, 2)).toBeGreaterThan(2 * within('amount', 2, 4))
  expect(within('database', 13, 13.2)).toBe(of('database').length)
  expect(within('warehouse', 0, 5)).toBe(0)
  expect(within('card', 0, 12)).toBeGreaterThan(1.5 * within('card', 12, 24))
})

test('a record that time mends has nothing wrong in it, and another fails again for the same reason', () => {
  for (const { kind, topic, isMendedByTime, valueFor } of Object.values(demoFailures).filter(
    ({ topic }) => topic !== 'orders',
  ))
    expect(faultIn(topic, valueFor('1', 1))?.kind ?? null, kind).toBe(isMendedByTime ? null : kind)
})

test('a number in place of the string mends an invoice, with all of its digits', () => {
  const value = demoFailures.layout.valueFor('1', 7)
  expect(value).toContain('"12345678901234567807"')
  expect(faultIn('invoices', value.replace(/"(\d{20})"/, '$1'))).toBeNull()
})
