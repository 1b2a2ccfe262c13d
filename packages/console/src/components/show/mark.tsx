// A word that stands out: heat, "came back", "paused". The shape before it says the same without colour.

import type { ReactNode } from 'react'
import styles from './mark.module.css'

export type MarkLook = 'hot' | 'warm' | 'plain'

export function Mark({ look = 'plain', title, children }: { look?: MarkLook; title?: string; children: ReactNode }) {
  return (
    <span className={`${styles.mark} ${styles[look]}`} {...(title === undefined ? {} : { title })}>
      {children}
    </span>
  )
}
