// The rate of a run since this page was opened, from the events that it has seen.

import { useEffect, useState } from 'react'
import type { Run } from '../../data/queries/runs.ts'
import { type RatePoint, rateLine, withPoint } from '../../domain/charts/rate-points.ts'
import { spanText } from '../../domain/time.ts'
import styles from './run.module.css'

const box = { width: 600, height: 48 }

/** `run`: another object with each event. */
export function RateChart({ run }: { run: Run }) {
  const [points, setPoints] = useState<readonly RatePoint[]>([])
  useEffect(() => {
    const { rate } = run.progress
    if (rate !== null) setPoints((seen) => withPoint(seen, { at: Date.now(), rate }))
  }, [run])
  const line = rateLine(points, box)
  if (line === null) return null
  const largest = Math.max(...points.map(({ rate }) => rate))
  const words = `${rateNumber(points.at(-1)!.rate)} a second now, at most ${rateNumber(largest)} in the last ${spanText(points.at(-1)!.at - points[0]!.at)}`
  return (
    <figure className={styles.rate}>
      <svg viewBox={`0 -1 ${box.width} ${box.height + 2}`} preserveAspectRatio="none" role="img" aria-label={words}>
        <polyline points={line} className={styles.rateLine} />
      </svg>
      <figcaption className={styles.quiet}>{words}</figcaption>
    </figure>
  )
}

function rateNumber(rate: number): string {
  return rate >= 10 ? String(Math.round(rate)) : rate.toFixed(1)
}
