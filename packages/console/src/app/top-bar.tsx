// The bar on top: which installation this is, the search, whether the page is live, and who looks.

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Button } from '../components/controls/button.tsx'
import { Menu } from '../components/controls/menu.tsx'
import { lastAnswerAt } from '../data/api.ts'
import { livePaused, setLivePaused, useNow } from '../data/live.ts'
import { configQuery, meQuery, signOut } from '../data/session.ts'
import { changeSettings, settings } from '../data/settings.ts'
import { useStore } from '../data/store.ts'
import { clockTime, shortSpan } from '../domain/time.ts'
import { SearchBox } from './search-box.tsx'
import styles from './top-bar.module.css'

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
      <SearchBox />
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
  const silentMs = at === null ? 0 : Date.now() - at
  const state = paused ? 'paused' : silentMs > 15_000 ? 'silent' : 'live'
  const words = { paused: 'paused', silent: `no answer for ${shortSpan(silentMs)}`, live: 'live' }
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

function Account() {
  const { data: me } = useQuery(meQuery)
  const { theme, times, zone, density, shortcuts } = useStore(settings)
  const signedIn = me !== undefined && me.via !== 'anonymous'
  const name = me === undefined ? 'Account' : signedIn ? me.actor : 'anonymous'
  const nextTheme = { system: 'dark', dark: 'light', light: 'system' } as const
  return (
    <Menu
      label={`Account: ${name}`}
      look="quiet"
      choices={[
        {
          id: 'theme',
          text: `Theme: ${theme}`,
          note: `change to ${nextTheme[theme]}`,
        },
        { id: 'times', text: `Times: ${times}`, note: 'or press t' },
        { id: 'zone', text: `Time zone: ${zone === 'utc' ? 'UTC' : 'local'}` },
        { id: 'density', text: `Rows: ${density}` },
        { id: 'keys', text: `Single-key shortcuts: ${shortcuts ? 'on' : 'off'}` },
        ...(signedIn && me.via === 'session' ? [{ id: 'out', text: 'Sign out' }] : []),
      ]}
      onChoose={(id) => {
        if (id === 'theme') changeSettings({ theme: nextTheme[theme] })
        if (id === 'times') changeSettings({ times: times === 'relative' ? 'absolute' : 'relative' })
        if (id === 'zone') changeSettings({ zone: zone === 'utc' ? 'local' : 'utc' })
        if (id === 'density') changeSettings({ density: density === 'normal' ? 'compact' : 'normal' })
        if (id === 'keys') changeSettings({ shortcuts: !shortcuts })
        if (id === 'out') void signOut()
      }}
    >
      <span className={styles.account}>{name}</span>
    </Menu>
  )
}
