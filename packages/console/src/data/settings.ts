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
}

export const defaultSettings: Settings = {
  theme: 'system',
  zone: 'local',
  times: 'relative',
  density: 'normal',
  shortcuts: true,
  payloads: 'shown',
}

const place = 'dlq-console.settings'

export const settings = createStore<Settings>(read())

export function changeSettings(change: Partial<Settings>): void {
  settings.set({ ...settings.get(), ...change })
  try {
    localStorage.setItem(place, JSON.stringify(settings.get()))
  } catch {
    // Without storage, the choice lasts as long as the page.
  }
  showSettings()
}

/** Theme and density are attributes of the root element, which the tokens know. */
export function showSettings(): void {
  const { theme, density } = settings.get()
  const { dataset } = document.documentElement
  dataset.density = density
  if (theme === 'system') delete dataset.theme
  else dataset.theme = theme
}

function read(): Settings {
  try {
    return { ...defaultSettings, ...(JSON.parse(localStorage.getItem(place) ?? '{}') as Partial<Settings>) }
  } catch {
    return defaultSettings
  }
}
