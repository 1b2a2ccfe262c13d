// The frame of a page: a heading that gets the focus after a navigation, the sentence that answers, and what follows.

import { Children, type ReactNode, useEffect } from 'react'
import { useSlow } from '../../data/live.ts'
import { consoleTitle } from '../../data/session.ts'
import { useStore } from '../../data/store.ts'
import { namedSteering } from '../../domain/payload/directions.ts'
import { DirectedText } from './directed-text.tsx'
import { useLongWords } from './long-words.tsx'
import styles from './page.module.css'

/** Six lines on a phone. */
const titleChars = 160

type HeadProps = {
  title: string
  /** The tab's title where it says more: "27 DEAD · InvalidAmountException". */
  documentTitle?: string
  /** What stands before the title: a link back. */
  back?: ReactNode
  /** What stands at the end of the title's line. */
  aside?: ReactNode
  /** The title is heard and not seen: the sentence below is enough. */
  hidden?: boolean
  children?: ReactNode
}

export function PageHead({ title, documentTitle, back, aside, hidden = false, children }: HeadProps) {
  const { words, toggle } = useLongWords(title, titleChars)
  const name = useStore(consoleTitle)
  useEffect(() => {
    document.title = `${namedSteering(documentTitle ?? title)} · ${name}`
  }, [documentTitle, title, name])
  return (
    <header className={styles.head}>
      {back === undefined ? null : <nav aria-label="Breadcrumb">{back}</nav>}
      <div className={hidden ? 'visually-hidden' : styles.line}>
        <h1 tabIndex={-1}>
          <bdi>
            <DirectedText text={words} />
          </bdi>
        </h1>
        {toggle}
        {aside === undefined ? null : <div className={styles.aside}>{aside}</div>}
      </div>
      {children}
    </header>
  )
}

/** The sentence that answers; empty until that is known. It may hold words of people, such as the reason of a pause. */
export function Verdict({ children, dim = false }: { children?: ReactNode; dim?: boolean }) {
  return (
    <p className={dim ? `${styles.verdict} ${styles.dim}` : styles.verdict}>
      {Children.map(children, (child) => (typeof child === 'string' ? <DirectedText text={child} /> : child))}
    </p>
  )
}

type SectionProps = {
  title: string
  aside?: ReactNode
  children: ReactNode
  id?: string
  /** Its content is not there yet: what stands below would move then, so it is shown with it, or after two seconds. */
  awaits?: boolean
}

const longestWaitMs = 2000

export function Section({ title, aside, children, id, awaits = false }: SectionProps) {
  const late = useSlow(awaits, longestWaitMs)
  return (
    <section className={styles.section} aria-label={title} id={id} data-awaits={awaits && !late}>
      <div className={styles.line}>
        <h2>{title}</h2>
        {aside === undefined ? null : <div className={styles.aside}>{aside}</div>}
      </div>
      {children}
    </section>
  )
}

export function Empty({ children }: { children: ReactNode }) {
  return <div className={styles.empty}>{children}</div>
}

/** The place of rows that are not there yet. */
export function Skeleton({ rows, tall = false }: { rows: number; tall?: boolean }) {
  return (
    <div className={tall ? `${styles.skeleton} ${styles.tall}` : styles.skeleton} role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} />
      ))}
    </div>
  )
}

export function Notice({ children, look = 'warning' }: { children: ReactNode; look?: 'warning' | 'alarm' | 'plain' }) {
  return <div className={`${styles.notice} ${styles[look]}`}>{children}</div>
}

export function ActionBar({ children, label }: { children: ReactNode; label: string }) {
  return (
    <fieldset className={styles.actions} aria-label={label}>
      {children}
    </fieldset>
  )
}
