// The rate of a run since this page was opened, from the events that it has seen.

import { useEffect, useState } from 'react'
import type { Run } from '../../data/queries/runs.ts'
import { type RatePoint, rateLine, rateWords, withPoint } from '../../domain/charts/rate-points.ts'
import styles from './run.module.css'

const box = { width: 600, height: 48 }

/** `run`: another object with each event. */
export function RateChart({ run }: { run: Run }) {
  const [points, setPoints] = useState<readonly RatePoint[]>([])
  const running = run.status === 'running'
  useEffect(() => {
    const { rate } = run.progress
    // A run that is paused keeps the rate that it had.
    if (rate !== null && run.status === 'running') setPoints((seen) => withPoint(seen, { at: Date.now(), rate }))
  }, [run])
  const line = rateLine(points, box)
  if (line === null) return null
  const words = rateWords(points, { running })
  return (
    <figure className={styles.rate}>
      <svg viewBox={`0 -1 ${box.width} ${box.height + 2}`} preserveAspectRatio="none" role="img" aria-label={words}>
        <polyline points={line} className={styles.rateLine} />
      </svg>
      <figcaption className={styles.quiet}>{words}</figcaption>
    </figure>
  )
}
