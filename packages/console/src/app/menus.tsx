// The menus of the frame: who looks, which deployment, and on a phone the sections that have no room at its lower edge.

import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Ellipsis } from 'lucide-react'
import { Menu } from '../components/controls/menu.tsx'
import { say } from '../components/toasts.tsx'
import { dropEdits } from '../data/drafts/edit-drafts.ts'
import { faultOf } from '../data/faults.ts'
import { configQuery, meQuery, signOut } from '../data/session.ts'
import { changeSettings, settings } from '../data/settings.ts'
import { useStore } from '../data/store.ts'
import { deploymentAt, sectionIn } from '../domain/system/deployments.ts'
import { overlay } from './over/overlay.ts'
import { firstSections, sections } from './sections.ts'
import styles from './top-bar.module.css'

export function Account() {
  const { data: me } = useQuery(meQuery)
  const navigate = useNavigate()
  const { theme, times, zone } = useStore(settings)
  const signedIn = me !== undefined && me.via !== 'anonymous'
  const name = me === undefined ? 'Account' : signedIn ? me.actor : 'anonymous'
  const nextTheme = { system: 'dark', dark: 'light', light: 'system' } as const
  return (
    <Menu
      label={`Account: ${name}`}
      look="quiet"
      choices={[
        { id: 'theme', text: `Theme: ${theme}`, note: `change to ${nextTheme[theme]}` },
        { id: 'times', text: `Times: ${times}`, note: 'or press t' },
        { id: 'zone', text: `Time zone: ${zone === 'utc' ? 'UTC' : 'local'}` },
        { id: 'settings', text: 'All settings' },
        { id: 'keys', text: 'Keys', note: 'or press ?' },
        { id: 'requests', text: 'Requests of this page', note: 'or press Shift a' },
        ...(signedIn && me.via === 'session' ? [{ id: 'out', text: 'Sign out' }] : []),
      ]}
      onChoose={(id) => {
        if (id === 'theme') changeSettings({ theme: nextTheme[theme] })
        if (id === 'times') changeSettings({ times: times === 'relative' ? 'absolute' : 'relative' })
        if (id === 'zone') changeSettings({ zone: zone === 'utc' ? 'local' : 'utc' })
        if (id === 'settings') void navigate({ to: '/settings' })
        if (id === 'keys' || id === 'requests') overlay.set({ kind: id })
        if (id === 'out') void leave()
      }}
    >
      <span className={styles.account}>{name}</span>
    </Menu>
  )
}

/** Nothing of what this person has read and typed stays in the page. */
async function leave(): Promise<void> {
  try {
    await signOut()
  } catch (error) {
    return say(`You are still signed in: ${faultOf(error).message}.`)
  }
  dropEdits()
  window.location.assign(document.baseURI)
}

/** Leads to the same section of another deployment. */
export function Deployments({ environment }: { environment: string }) {
  const { data: config } = useQuery(configQuery)
  const deployments = config?.deployments ?? []
  const here = deploymentAt(deployments, window.location.href)
  const name = here?.name ?? environment
  return (
    <Menu
      label={`Deployment: ${name}`}
      look="quiet"
      choices={deployments.map((deployment) => ({
        id: deployment.name,
        text: deployment.name,
        note: deployment === here ? 'this page' : deployment.url,
        disabled: deployment === here,
      }))}
      onChoose={(id) => {
        const chosen = deployments.find((deployment) => deployment.name === id)
        const path = window.location.pathname.slice(new URL(document.baseURI).pathname.length)
        if (chosen !== undefined) window.location.assign(sectionIn(chosen, `/${path}`))
      }}
    >
      <span className="visually-hidden">Deployment: </span>
      <span className={styles.account}>{name}</span>
    </Menu>
  )
}

export function More() {
  const navigate = useNavigate()
  return (
    <Menu
      label="More sections"
      look="quiet"
      choices={[
        ...sections.slice(firstSections).map(({ to, name }) => ({ id: to as string, text: name })),
        { id: '/settings', text: 'Settings' },
        { id: 'commands', text: 'Commands' },
      ]}
      onChoose={(id) => {
        if (id === 'commands') overlay.set({ kind: 'commands' })
        else void navigate({ to: id } as never)
      }}
    >
      <Ellipsis aria-hidden="true" />
      <span>More</span>
    </Menu>
  )
}
