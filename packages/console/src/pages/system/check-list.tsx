// Checks as lines: a shape and a word for the level, what it means, and what to do.

import { CircleAlert, CircleCheck, CircleDot } from 'lucide-react'
import type { Check } from '../../domain/system/system-checks.ts'
import styles from './system.module.css'

const icons = { fine: CircleCheck, look: CircleDot, act: CircleAlert }

export function CheckList({ checks }: { checks: readonly Check[] }) {
  return (
    <ul className={styles.checks}>
      {checks.map(({ id, name, level, text, advice }) => {
        const Icon = icons[level]
        return (
          <li key={id} data-level={level}>
            <span className={styles.level}>
              <Icon aria-hidden="true" />
              {level}
            </span>
            <span className={styles.name}>{name.replace(/^the /, '')}</span>
            <span className={styles.text}>
              {text}
              {advice === null ? null : <span className={styles.advice}>{advice}</span>}
            </span>
          </li>
        )
      })}
    </ul>
  )
}
