// The day before the demo's first start, so that its groups have a shape from the first second. Pure: the same day for
// the same time.

import { type DemoFailure, demoFailures, type FailureKind } from './failures.ts'

export type PastFailure = { at: number; id: string; value: string; failure: DemoFailure }

const hour = 3_600_000
const minute = 60_000
const day = 24 * hour

/** How many of each kind, and when, as the time before now in ms; `share` goes from 0 to 1. */
const shapes: Readonly<Record<FailureKind, { count: number; agoOf: (share: number) => number }>> = {
  // A daily rhythm: twice as many in one half of the day.
  card: { count: 420, agoOf: (share) => day * (share < 2 / 3 ? share * 0.75 : 0.5 + (share - 2 / 3) * 1.5) },
  // A slow rise until now.
  amount: { count: 240, agoOf: (share) => 9 * hour * share ** 2 },
  // A deployment that was taken back after three hours.
  warehouse: { count: 160, agoOf: (share) => 5 * hour + 3 * hour * share },
  // Ten minutes, in the night if now is the afternoon.
  database: { count: 460, agoOf: (share) => 13 * hour + 10 * minute * share },
  // Now and then.
  layout: { count: 140, agoOf: (share) => day * share },
  // An outage of forty minutes that is over.
  label: { count: 80, agoOf: (share) => 6 * hour + 40 * minute * share },
}

/** The dead letters of the last 24 hours, the oldest first. */
export function makePast(now: number): PastFailure[] {
  const kinds = Object.keys(shapes) as FailureKind[]
  return kinds
    .flatMap((kind) => {
      const { count, agoOf } = shapes[kind]
      const failure = demoFailures[kind]
      return Array.from({ length: count }, (_, n) => {
        // Not all at the same distance: 0.618 spreads them without chance.
        const at = Math.round(now - agoOf(((n * 0.618) % 1) * 0.999) - minute)
        const id = `${new Date(at).toISOString().slice(0, 10).replaceAll('-', '')}-${kind}-${n}`
        return { at, id, value: failure.valueFor(id, n), failure }
      })
    })
    .toSorted((a, b) => a.at - b.at)
}
