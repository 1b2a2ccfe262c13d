// The bar of a run: parts of one whole, told apart by pattern and label, not by colour alone.

import type { Part } from '../../domain/runs.ts'
import styles from './progress.module.css'

type Props = { parts: readonly Part[]; label: string; small?: boolean }

export function ProgressBar({ parts, label, small = false }: Props) {
  const shown = parts.filter(({ count, id }) => count > 0 && id !== 'waiting' && id !== 'rest')
  let left = 0
  return (
    <svg
      className={small ? `${styles.bar} ${styles.small}` : styles.bar}
      viewBox="0 0 1000 10"
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <rect width="1000" height="10" className={styles.rest} />
      {shown.map(({ id, count, of }) => {
        const width = Math.min(1000 - left, (count / of) * 1000)
        const x = left
        left += width
        return <rect key={id} x={x} width={width} height="10" className={styles[id]} />
      })}
    </svg>
  )
}

/** The parts with their numbers: the bar in words. */
export function ProgressLegend({ parts }: { parts: readonly Part[] }) {
  return (
    <ul className={styles.legend}>
      {parts
        .filter(({ count, id }) => count > 0 || id === 'sent' || id === 'back')
        .map(({ id, label, count }) => (
          <li key={id}>
            <svg viewBox="0 0 10 10" className={styles.key} aria-hidden="true">
              <rect width="10" height="10" className={styles[id] ?? styles.rest} />
            </svg>
            {label} <strong>{count.toLocaleString('en')}</strong>
          </li>
        ))}
    </ul>
  )
}
