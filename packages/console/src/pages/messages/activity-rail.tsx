// When the messages of the list arrived. A press on a stretch lists from its end back; the numbers are there as a table.

import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useNow } from '../../data/live.ts'
import { activityQuery } from '../../data/queries/activity.ts'
import { settings } from '../../data/settings.ts'
import { useStore } from '../../data/store.ts'
import type { MessageFilter } from '../../domain/addresses.ts'
import { arrivalOf, type Bar, barsOf, barWords, railRange, railWords } from '../../domain/charts/activity.ts'
import { clockTime } from '../../domain/time.ts'
import styles from './activity.module.css'

type Props = { filter: MessageFilter; onPick: (arrivedTo: string) => void }

const barPx = 10
const height = 40
/** A bar that is broken below its top goes on above it. */
const cutPx = 4

export function ActivityRail({ filter, onPick }: Props) {
  const now = useNow()
  const { zone } = useStore(settings)
  const range = railRange(filter, now)
  const activity = useQuery({ ...activityQuery(filter, range), enabled: filter.archived !== 'true' })
  const [shown, setShown] = useState<Bar | null>(null)
  if (filter.archived === 'true') return null
  if (activity.data === undefined) return activity.isError ? null : <div className={styles.place} />
  const bars = barsOf(activity.data.series[0]?.buckets ?? [], activity.data.step_seconds * 1000)
  const largest = Math.max(...bars.map(({ arrived }) => arrived), 0)
  if (largest === 0) return <p className={styles.quiet}>{railWords(bars, String)}</p>
  const clock = (ms: number) => clockTime(ms, now, zone)
  const { to } = arrivalOf(filter, now)
  const until = to === undefined ? Number.POSITIVE_INFINITY : Date.parse(to)
  const words = railWords(bars, clock)
  return (
    <figure className={styles.rail} data-dim={activity.isPlaceholderData}>
      <svg
        viewBox={`0 0 ${bars.length * barPx} ${height}`}
        preserveAspectRatio="none"
        className={styles.bars}
        role="img"
        aria-label={words}
        onPointerLeave={() => setShown(null)}
      >
        {bars.map((bar, at) => (
          <g
            key={bar.at}
            className={bar.end <= until ? styles.slot : `${styles.slot} ${styles.after}`}
            onPointerEnter={() => setShown(bar)}
            onPointerUp={() => onPick(new Date(bar.end).toISOString())}
          >
            <rect x={at * barPx} width={barPx} height={height} className={styles.hit} />
            <Stack bar={bar} x={at * barPx} largest={largest} />
          </g>
        ))}
      </svg>
      <figcaption className={styles.caption}>
        <span>{clock(bars[0]!.at)}</span>
        <span className={styles.words}>
          {shown === null ? words : `${clock(shown.at)} to ${clock(shown.end)}: ${barWords(shown)}`}
        </span>
        <span>{clock(bars.at(-1)!.end)}</span>
      </figcaption>
      <details className={styles.numbers}>
        <summary>As numbers</summary>
        <ul>
          {bars
            .filter(({ arrived }) => arrived > 0)
            .map((bar) => (
              <li key={bar.at}>
                <button type="button" className={styles.pick} onClick={() => onPick(new Date(bar.end).toISOString())}>
                  {clock(bar.at)}
                </button>{' '}
                {barWords(bar)}
              </li>
            ))}
        </ul>
      </details>
    </figure>
  )
}

function Stack({ bar, x, largest }: { bar: Bar; x: number; largest: number }) {
  const tall = bar.arrived === 0 ? 0 : Math.max(2, (bar.arrived / largest) * height)
  const dead = bar.dead ? Math.max(2, (bar.dead / largest) * height) : 0
  return (
    <>
      <rect x={x + 1} y={height - tall} width={barPx - 2} height={tall} className={styles.arrived} />
      <rect x={x + 1} y={height - dead} width={barPx - 2} height={dead} className={styles.dead} />
      {bar.isCut ? <rect x={x} y={height - tall + cutPx} width={barPx} height={cutPx} className={styles.cut} /> : null}
    </>
  )
}
