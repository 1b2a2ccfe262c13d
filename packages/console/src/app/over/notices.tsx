// Lines above the page: live updates that are paused, and a newer console.

import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { Button } from '../../components/controls/button.tsx'
import { Notice } from '../../components/show/page.tsx'
import { Time } from '../../components/show/time.tsx'
import { lastAnswerAt } from '../../data/api.ts'
import { livePaused, setLivePaused } from '../../data/live.ts'
import { configQuery } from '../../data/session.ts'
import { useStore } from '../../data/store.ts'

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
