// What arrived over time, for the rail above a list: its range and its stretches follow from the filter.

import { type MessageFilter, requestFilter } from '../addresses.ts'
import type { Total } from '../lists/match-total.ts'
import { numberText } from '../words.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const steps = [minute, 5 * minute, 15 * minute, hour, 6 * hour, day, 7 * day]
/** So many bars stand side by side at most. */
const mostBars = 72

export type RailRange = { from: string; to: string; stepMs: number }

/** The times of arrival that the filter asks for; the times of storing stand for them, as they are seldom far apart. */
export function arrivalOf(filter: MessageFilter, now: number): { from: string | undefined; to: string | undefined } {
  const { from, to, arrived_from = from, arrived_to = to } = requestFilter(filter, new Date(now))
  return { from: arrived_from, to: arrived_to }
}

/** A day, unless the filter says another time; whole minutes, so that the same rail is not asked for every second. */
export function railRange(filter: MessageFilter, now: number): RailRange {
  const { from, to } = arrivalOf(filter, now)
  const rounded = Math.ceil(now / minute) * minute
  const end = to === undefined || Number.isNaN(Date.parse(to)) ? rounded : Math.min(Date.parse(to), rounded)
  const begin = from === undefined || Number.isNaN(Date.parse(from)) ? end - day : Date.parse(from)
  const first = Math.min(begin, end - minute)
  // The whole day stays in sight where only its end was chosen.
  const last = from === undefined && rounded - first < 2 * day ? Math.max(end, rounded) : end
  const stepMs = steps.find((step) => (last - first) / step <= mostBars) ?? Math.ceil((last - first) / mostBars)
  return { from: new Date(first).toISOString(), to: new Date(last).toISOString(), stepMs }
}

export type Bucket = { readonly at: string; readonly arrived: Total; readonly dead: Total }

export type Bar = {
  readonly at: number
  readonly end: number
  /** The least number where the stretch was not read to its end. */
  readonly arrived: number
  readonly isCut: boolean
  /** Null of a stretch that was not read to its end: both counts are bounded there, and say nothing of a share. */
  readonly dead: number | null
}

export function barsOf(buckets: readonly Bucket[], stepMs: number): Bar[] {
  return buckets.map(({ at, arrived, dead }) => {
    const isCut = arrived.relation === 'gte' || dead.relation === 'gte'
    return {
      at: Date.parse(at),
      end: Date.parse(at) + stepMs,
      arrived: arrived.value,
      isCut,
      dead: isCut ? null : Math.min(dead.value, arrived.value),
    }
  })
}

/** "460 arrived, 27 are DEAD", "at least 400 arrived". */
export function barWords({ arrived, isCut, dead }: Bar): string {
  return `${isCut ? 'at least ' : ''}${numberText(arrived)} arrived${dead ? `, ${numberText(dead)} ${dead === 1 ? 'is' : 'are'} DEAD` : ''}`
}

/** "1,240 arrived, 27 of them are DEAD; most, 460, at 03:10". */
export function railWords(bars: readonly Bar[], clock: (ms: number) => string): string {
  const arrived = bars.reduce((sum, bar) => sum + bar.arrived, 0)
  // Of two stretches that were cut, nobody knows which has more.
  if (bars.some(({ isCut }) => isCut))
    return arrived === 0
      ? 'Nothing was found in the part of this time that was read.'
      : `at least ${numberText(arrived)} arrived`
  if (arrived === 0) return 'Nothing arrived in this time.'
  const dead = bars.reduce((sum, bar) => sum + (bar.dead ?? 0), 0)
  const most = bars.reduce((a, b) => (b.arrived > a.arrived ? b : a))
  return `${numberText(arrived)} arrived${dead === 0 ? '' : `, ${numberText(dead)} of them ${dead === 1 ? 'is' : 'are'} DEAD`}; most, ${numberText(most.arrived)}, at ${clock(most.at)}`
}
