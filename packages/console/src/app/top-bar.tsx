// The bar on top: which installation this is, the search, whether the page is live, and who looks.

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Command } from 'lucide-react'
import { Button } from '../components/controls/button.tsx'
import { lazyPart } from '../components/lazy-part.tsx'
import { lastAnswerAt } from '../data/api.ts'
import { livePaused, setLivePaused, useNow } from '../data/live.ts'
import { serverNow, serverTime } from '../data/server-clock.ts'
import { configQuery } from '../data/session.ts'
import { settings } from '../data/settings.ts'
import { useStore } from '../data/store.ts'
import { clockTime, shortSpan } from '../domain/time.ts'
import { overlay } from './over/overlay.ts'
import { SearchBox } from './search-box.tsx'
import styles from './top-bar.module.css'

// What a menu needs is large, and nobody opens one in the first moment.
const Account = lazyPart(() => import('./menus.tsx').then(({ Account }) => Account), 'quiet')
const Deployments = lazyPart(() => import('./menus.tsx').then(({ Deployments }) => Deployments), 'quiet')

const openedAt = Date.now()

export function TopBar() {
  const { data: config } = useQuery(configQuery)
  const environment = config?.environment ?? null
  return (
    <header className={styles.bar}>
      <Link to="/" className={styles.name}>
        {config?.title ?? 'dlq-manager'}
      </Link>
      {environment === null ? null : (
        <span className={styles.environment} data-production={/^prod/i.test(environment)}>
          {environment}
        </span>
      )}
      {config?.deployments.length ? <Deployments environment={config.environment ?? config.title} /> : null}
      <SearchBox />
      <Button look="quiet" label="Commands" onPress={() => overlay.set({ kind: 'commands' })}>
        <Command aria-hidden="true" />
      </Button>
      <LiveButton />
      <Account />
    </header>
  )
}

function LiveButton() {
  const paused = useStore(livePaused)
  const at = useStore(lastAnswerAt)
  const { zone } = useStore(settings)
  const now = useNow()
  // Where nothing has ever come, it counts from when the page was opened.
  const silentMs = serverNow() - (at ?? serverTime(openedAt))
  const state = paused ? 'paused' : silentMs > 15_000 ? 'silent' : 'live'
  const words = { paused: 'paused', silent: `nothing new for ${shortSpan(silentMs)}`, live: 'live' }
  return (
    <div className={styles.live} data-state={state}>
      <Button look="quiet" aria-pressed={paused} onPress={() => setLivePaused(!paused)}>
        <svg viewBox="0 0 8 8" aria-hidden="true">
          <circle cx="4" cy="4" r="3" fill={state === 'live' ? 'currentColor' : 'none'} stroke="currentColor" />
        </svg>
        <span className="visually-hidden">Live updates: </span>
        <span>{words[state]}</span>
        {at === null ? null : <time>{clockTime(at, now, zone)}</time>}
      </Button>
    </div>
  )
}
