// The rate of a run as it was seen: the last sixty points, as a line.

export type RatePoint = { readonly at: number; readonly rate: number }

const mostPoints = 60

export function withPoint(points: readonly RatePoint[], point: RatePoint): RatePoint[] {
  return [...points, point].slice(-mostPoints)
}

/** "x,y x,y …" within the box, time to the right, the largest rate at the top; null below two points. */
export function rateLine(
  points: readonly RatePoint[],
  { width, height }: { width: number; height: number },
): string | null {
  const [first, last] = [points[0], points.at(-1)]
  if (first === undefined || last === undefined || last.at <= first.at) return null
  const largest = Math.max(...points.map(({ rate }) => rate), 0.001)
  return points
    .map(({ at, rate }) => {
      const x = ((at - first.at) / (last.at - first.at)) * width
      return `${x.toFixed(1)},${(height - (rate / largest) * height).toFixed(1)}`
    })
    .join(' ')
}
