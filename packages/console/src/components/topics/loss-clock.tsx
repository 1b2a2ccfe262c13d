// The loss clock as a bar: the fuller, the longer Kafka still keeps what nobody has read.

import { type LossFacts, lossLevel, lossMarks, lossShare, lossWords, notLookedFor } from '../../domain/topics/loss.ts'
import styles from './loss-clock.module.css'

type Props = { clock: LossFacts; now: number; wide?: boolean }

export function LossClock({ clock, now, wide = false }: Props) {
  const level = notLookedFor(clock, now) === null ? lossLevel(clock, now) : 'old'
  const words = lossWords(clock, now)
  const runs = clock.lag > 0 && clock.expires_at !== null
  if (!runs && clock.lost === 0 && !wide)
    return <span className={styles.quiet}>{clock.lag > 0 ? words : 'nothing waits'}</span>
  const share = runs ? lossShare(Date.parse(clock.expires_at!) - now) : 1
  return (
    <div className={wide ? `${styles.clock} ${styles.wide}` : styles.clock} data-level={level}>
      <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
        <rect width="100" height="6" className={styles.rest} />
        {runs ? <rect width={Math.max(1.5, share * 100)} height="6" className={styles.left} /> : null}
        {lossMarks.slice(1, -1).map(({ ms, text }) => (
          <rect key={text} x={lossShare(ms) * 100} width={wide ? 0.2 : 0.8} height="6" className={styles.mark} />
        ))}
      </svg>
      {wide ? (
        <div className={styles.scale} aria-hidden="true">
          {lossMarks.toReversed().map(({ text }) => (
            <span key={text}>{text}</span>
          ))}
        </div>
      ) : null}
      <span className={styles.words}>{clock.lag === 0 && clock.lost === 0 ? 'Nothing waits unread.' : words}</span>
    </div>
  )
}
