// What a first visitor wants to know: three things, once, at the end of the first page.

import { useRouterState } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../components/controls/button.tsx'
import styles from './hints.module.css'
import { hintsSeen, noteHintsSeen } from './hints-seen.ts'

export function Hints() {
  const [seen, setSeen] = useState(hintsSeen)
  const onNow = useRouterState({ select: ({ location }) => location.pathname === '/' })
  if (seen || !onNow) return null
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
