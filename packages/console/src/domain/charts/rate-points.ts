// The rate of a run as it was seen: the last sixty points, as a line.

import { spanText } from '../time.ts'

export type RatePoint = { readonly at: number; readonly rate: number }

const mostPoints = 60
/** What two moments say in a row is no course. */
const shortestMs = 5000

export function withPoint(points: readonly RatePoint[], point: RatePoint): RatePoint[] {
  return [...points, point].slice(-mostPoints)
}

/** "x,y x,y …" within the box, time to the right, the largest rate at the top; null below five seconds. */
export function rateLine(
  points: readonly RatePoint[],
  { width, height }: { width: number; height: number },
): string | null {
  const [first, last] = [points[0], points.at(-1)]
  if (first === undefined || last === undefined || last.at < first.at + shortestMs) return null
  const largest = Math.max(...points.map(({ rate }) => rate), 0.001)
  return points
    .map(({ at, rate }) => {
      const x = ((at - first.at) / (last.at - first.at)) * width
      return `${x.toFixed(1)},${(height - (rate / largest) * height).toFixed(1)}`
    })
    .join(' ')
}

/** "38 a second now, at most 52 in the last 40 s". A run that stands still has no rate now. */
export function rateWords(points: readonly RatePoint[], { running }: { running: boolean }): string {
  const [first, last] = [points[0]!, points.at(-1)!]
  const largest = rateNumber(Math.max(...points.map(({ rate }) => rate)))
  const span = spanText(last.at - first.at)
  if (!running) return `at most ${largest} a second in the last ${span} of its work`
  return `${rateNumber(last.rate)} a second now, at most ${largest} in the last ${span}`
}

export function rateNumber(rate: number): string {
  return rate >= 10 ? String(Math.round(rate)) : rate.toFixed(1)
}
