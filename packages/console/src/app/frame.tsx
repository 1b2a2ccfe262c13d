// What surrounds every page: the sections, the bar on top, the page itself, and the runs that are active.

import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useNavigate, useRouter } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { keysEnabled, useKeys } from '../components/keys.ts'
import { lazyPart } from '../components/lazy-part.tsx'
import { Toasts, toast } from '../components/toasts.tsx'
import { signInNeeded } from '../data/api.ts'
import { dropEdits } from '../data/drafts/edit-drafts.ts'
import { livePaused, setLivePaused, useLive } from '../data/live.ts'
import { losingQuery } from '../data/queries/losing.ts'
import { activeRunsQuery } from '../data/queries/runs.ts'
import { consoleTitle, meQuery } from '../data/session.ts'
import { changeSettings, settings } from '../data/settings.ts'
import { useStore } from '../data/store.ts'
import styles from './frame.module.css'
import { noteRecent, overlay } from './over/overlay.ts'
import { sections } from './sections.ts'
import { TopBar } from './top-bar.tsx'

const More = lazyPart(() => import('./menus.tsx').then(({ More }) => More), 'quiet')
const Overlays = lazyPart(() => import('./over/overlays.tsx').then(({ Overlays }) => Overlays))
const Hints = lazyPart(() => import('./over/hints.tsx').then(({ Hints }) => Hints), 'quiet')
const Notices = lazyPart(() => import('./over/notices.tsx').then(({ Notices }) => Notices), 'quiet')
const RunBar = lazyPart(() => import('./run-bar.tsx').then(({ RunBar }) => RunBar))
const SignIn = lazyPart(() => import('./sign-in.tsx').then(({ SignIn }) => SignIn))

export function Frame() {
  const needsSignIn = useStore(signInNeeded)
  const { shortcuts } = useStore(settings)
  const runs = useQuery({ ...activeRunsQuery, refetchInterval: useLive(5000) })
  const active = runs.data ?? []
  const losing = useQuery({ ...losingQuery, refetchInterval: useLive(30_000) }).data ?? 0
  const shown = useStore(overlay)
  useSectionKeys()
  useFocusOnHeading()
  useRecentPages()
  useOnePerson()
  useEffect(() => {
    // What is typed for the commands before they are loaded does nothing to the page.
    keysEnabled.current = shortcuts && shown === null
  }, [shortcuts, shown])
  return (
    <div className={styles.frame} data-runs={Math.min(active.length, 4)}>
      <button type="button" className={styles.skip} onClick={skipToPage}>
        Skip to the page
      </button>
      <TopBar />
      <nav className={styles.rail} aria-label="Sections">
        <ul>
          {sections.map(({ to, name, icon: Icon }) => (
            <li key={to}>
              <Link to={to} activeOptions={{ exact: to === '/', includeSearch: false }} className={styles.section}>
                <Icon aria-hidden="true" />
                <span>{name}</span>
                {to === '/runs' ? <Count of={active.length} /> : null}
                {to === '/topics' ? <Count of={losing} /> : null}
              </Link>
            </li>
          ))}
          <li className={styles.more}>
            <More />
          </li>
        </ul>
      </nav>
      <main id="page" className={styles.page}>
        <Notices />
        {/* What lies over the page has its place here where it does not come. */}
        {shown === null ? null : <Overlays shown={shown} onClose={() => overlay.set(null)} />}
        <Outlet />
        <Hints />
      </main>
      {active.length > 0 ? <RunBar runs={active} /> : null}
      <Toasts />
      {needsSignIn ? <SignIn /> : null}
    </div>
  )
}

function Count({ of }: { of: number }) {
  return of === 0 ? null : <data value={of}>{of}</data>
}

function skipToPage(): void {
  document.querySelector<HTMLElement>('main h1')?.focus()
}

function useSectionKeys(): void {
  const navigate = useNavigate()
  useKeys({
    ...Object.fromEntries(sections.map(({ to, key }) => [`g ${key}`, () => void navigate({ to })])),
    '/': () => document.querySelector<HTMLInputElement>('[data-search] input')?.focus(),
    'Mod+k': () => overlay.set({ kind: 'commands' }),
    '?': () => overlay.set({ kind: 'keys' }),
    'Shift+a': () => overlay.set({ kind: 'requests' }),
    p: () => setLivePaused(!livePaused.get()),
    t: () => changeSettings({ times: settings.get().times === 'relative' ? 'absolute' : 'relative' }),
    z: () => {
      const { undo } = toast.get() ?? {}
      toast.set(null)
      undo?.()
    },
  })
}

function useRecentPages(): void {
  const router = useRouter()
  useEffect(
    () =>
      router.subscribe('onRendered', ({ toLocation }) =>
        noteRecent(toLocation.href, document.title.replace(` · ${consoleTitle.get()}`, '')),
      ),
    [router],
  )
}

/** Where somebody else has signed in, here or in another tab, nothing stays of what the one before has read and typed. */
function useOnePerson(): void {
  const actor = useQuery(meQuery).data?.actor
  const first = useRef(actor)
  useEffect(() => {
    if (first.current !== undefined && actor !== undefined && first.current !== actor) {
      dropEdits()
      window.location.reload()
    }
    first.current ??= actor
  }, [actor])
}

/** After a navigation to another page the focus is on its heading, where reading begins. */
function useFocusOnHeading(): void {
  const router = useRouter()
  useEffect(
    () =>
      router.subscribe('onRendered', ({ fromLocation, toLocation }) => {
        if (fromLocation === undefined || fromLocation.pathname === toLocation.pathname) return
        const { activeElement } = document
        const taken = activeElement?.closest('main, [role=dialog]') ?? null
        if (taken === null || activeElement === document.body)
          document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true })
      }),
    [router],
  )
}
