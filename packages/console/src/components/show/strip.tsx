// The last 24 hours as bars. The height is the share of the largest hour; the words beneath say the last three.

import { trendWords } from '../../domain/groups/heat.ts'
import styles from './strip.module.css'

type Props = {
  trend: readonly { readonly value: number; readonly relation: 'eq' | 'gte' }[] | null
  tall?: boolean
}

const barWidth = 4
const height = 20

export function Strip({ trend, tall = false }: Props) {
  if (trend === null) return <div className={styles.strip} />
  const largest = Math.max(1, ...trend.map(({ value }) => value))
  return (
    <svg
      className={tall ? `${styles.strip} ${styles.tall}` : styles.strip}
      viewBox={`0 0 ${trend.length * barWidth - 1} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={trendWords(trend)}
    >
      <title>{trendWords(trend)}</title>
      {trend.map(({ value }, hour) => {
        const share = value / largest
        const tallness = value === 0 ? 1 : Math.max(2, share * height)
        return (
          <rect
            key={hour}
            x={hour * barWidth}
            y={height - tallness}
            width={barWidth - 1}
            height={tallness}
            className={value === 0 ? styles.none : styles[`heat${Math.ceil(share * 4)}`]}
          />
        )
      })}
    </svg>
  )
}
