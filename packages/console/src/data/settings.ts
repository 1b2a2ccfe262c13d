// Settings of this browser, and of nobody else. They are kept in localStorage where the browser allows it.

import type { Zone } from '../domain/time.ts'
import { createStore } from './store.ts'

export type Settings = {
  theme: 'system' | 'light' | 'dark'
  zone: Zone
  times: 'relative' | 'absolute'
  density: 'normal' | 'compact'
  /** Keys without a modifier; WCAG 2.1.4 wants a switch. */
  shortcuts: boolean
  payloads: 'shown' | 'hidden'
  motion: 'system' | 'none'
}

export const defaultSettings: Settings = {
  theme: 'system',
  zone: 'local',
  times: 'relative',
  density: 'normal',
  shortcuts: true,
  payloads: 'shown',
  motion: 'system',
}

const place = 'dlq-console.settings'

/** What somebody has chosen here; the rest follows the defaults, and the server's. */
let chosen = read()
/** What the server wants where nobody has chosen anything else. */
let preferred: Partial<Settings> = {}

export const settings = createStore<Settings>({ ...defaultSettings, ...chosen })

export function changeSettings(change: Partial<Settings>): void {
  chosen = { ...chosen, ...change }
  settings.set({ ...settings.get(), ...change })
  keep()
  showSettings()
}

export function forgetSettings(): void {
  chosen = {}
  settings.set({ ...defaultSettings, ...preferred })
  keep()
  showSettings()
}

export function preferSettings(wanted: Partial<Settings>): void {
  preferred = wanted
  settings.set({ ...settings.get(), ...preferred, ...chosen })
}

/** Theme, density and motion are attributes of the root element, which the tokens know. */
export function showSettings(): void {
  const { theme, density, motion } = settings.get()
  const { dataset } = document.documentElement
  dataset.density = density
  dataset.motion = motion
  if (theme === 'system') delete dataset.theme
  else dataset.theme = theme
}

function keep(): void {
  try {
    localStorage.setItem(place, JSON.stringify(chosen))
  } catch {
    // Without storage, the choice lasts as long as the page.
  }
}

function read(): Partial<Settings> {
  try {
    return JSON.parse(localStorage.getItem(place) ?? '{}') as Partial<Settings>
  } catch {
    return {}
  }
}
