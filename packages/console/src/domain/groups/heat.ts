// How much an error group burns, from its last 24 hours. The words are explained where they are shown.

import { openOf, type StatusCounts, totalOf } from '../states.ts'

export type Heat = 'new and rising' | 'rising' | 'new' | 'steady' | 'quiet'

export type GroupFacts = {
  readonly counts: StatusCounts
  readonly owner: string | null
  readonly first_seen_at: string
  readonly last_seen_at: string
  /** Messages of each of the last 24 hours, the oldest first. */
  readonly trend: readonly { readonly value: number; readonly relation: 'eq' | 'gte' }[] | null
}

const hourMs = 3_600_000
const order: readonly Heat[] = ['new and rising', 'rising', 'new', 'steady', 'quiet']

/** The last hour has this many, and this many times the mean of the 22 hours before it. */
const risingFrom = 5
const risingFactor = 3

export function heatOf(group: GroupFacts, now: number): Heat {
  if (now - Date.parse(group.last_seen_at) > 2 * hourMs) return 'quiet'
  const isNew = group.owner === null && now - Date.parse(group.first_seen_at) < 24 * hourMs
  const rising = isRising(group.trend)
  if (isNew && rising) return 'new and rising'
  if (rising) return 'rising'
  return isNew ? 'new' : 'steady'
}

function isRising(trend: GroupFacts['trend']): boolean {
  if (trend === null || trend.length < 24) return false
  const last = trend[23]!.value
  const before = trend.slice(1, 23).reduce((sum, { value }) => sum + value, 0) / 22
  return last >= risingFrom && last >= risingFactor * before
}

export const heatMeaning: Record<Heat, string> = {
  'new and rising': 'first seen within 24 hours, owned by nobody, and the last hour has 3 times the mean before it',
  rising: 'the last hour has at least 5 messages, and 3 times the mean of the 22 hours before it',
  new: 'first seen within 24 hours, and owned by nobody',
  steady: 'goes on as before',
  quiet: 'nothing for 2 hours',
}

/** The hottest first; among equals the one with more that waits or is given up. Groups without messages are left out. */
export function byHeat<T extends GroupFacts>(groups: readonly T[], now: number): { group: T; heat: Heat }[] {
  return groups
    .filter(({ counts }) => totalOf(counts) > 0)
    .map((group) => ({ group, heat: heatOf(group, now) }))
    .toSorted(
      (a, b) => order.indexOf(a.heat) - order.indexOf(b.heat) || openOf(b.group.counts) - openOf(a.group.counts),
    )
}

/** "12, 40 and at least 343 in the last three hours". */
export function trendWords(trend: NonNullable<GroupFacts['trend']>): string {
  const [third, second, last] = trend
    .slice(-3)
    .map(({ value, relation }) => (relation === 'gte' ? `at least ${value}` : String(value)))
  return `${third}, ${second} and ${last} in the last three hours`
}
