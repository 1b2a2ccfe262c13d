// Lines above the page: live updates that are paused, a newer console, and what a first visitor wants to know.

import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { Button } from '../../components/controls/button.tsx'
import { Notice } from '../../components/show/page.tsx'
import { Time } from '../../components/show/time.tsx'
import { lastAnswerAt } from '../../data/api.ts'
import { hintsSeen, noteHintsSeen } from '../../data/hints.ts'
import { livePaused, setLivePaused } from '../../data/live.ts'
import { configQuery } from '../../data/session.ts'
import { useStore } from '../../data/store.ts'
import styles from './notices.module.css'

export function Notices() {
  const paused = useStore(livePaused)
  const build = useQuery(configQuery).data?.build ?? null
  const first = useRef(build)
  first.current ??= build
  const newer = build !== null && build !== first.current
  return (
    <>
      {newer ? (
        <Notice look="plain">
          <span>A newer console is there.</span>
          <Button onPress={() => location.reload()}>Reload</Button>
        </Notice>
      ) : null}
      {paused ? <Paused /> : null}
      <Hints />
    </>
  )
}

function Paused() {
  const [since] = useState(() => lastAnswerAt.get())
  return (
    <Notice>
      <span>
        Live updates are paused: the page shows what was known <Time at={since} />.
      </span>
      <Button onPress={() => setLivePaused(false)} hint="p">
        Go on
      </Button>
    </Notice>
  )
}

function Hints() {
  const [seen, setSeen] = useState(hintsSeen)
  const root = document.querySelector('main h1')?.textContent === 'Now'
  useEffect(() => {
    if (!root) setSeen(true)
  }, [root])
  if (seen) return null
  const close = () => {
    noteHintsSeen()
    setSeen(true)
  }
  return (
    <aside className={styles.hints} aria-label="How to begin">
      <ol>
        <li>
          <strong>Open the hottest group.</strong> Its newest message is open, with its own stack frames and its value.
        </li>
        <li>
          <strong>
            Press <kbd>r</kbd>.
          </strong>{' '}
          The draft says what would be sent before anything is, and one goes first.
        </li>
        <li>
          <strong>Watch the line at the bottom.</strong> What runs can be paused, slowed and cancelled from every page.
        </li>
      </ol>
      <Button look="quiet" onPress={close}>
        Understood
      </Button>
    </aside>
  )
}
