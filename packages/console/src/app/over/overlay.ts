// What lies over the page: one thing at a time. It is loaded when somebody asks for it.

import { createStore } from '../../data/store.ts'

export type Overlay =
  | { kind: 'commands' | 'keys' | 'requests' }
  | { kind: 'pause'; topic: string; duration: string | null }
  | { kind: 'resume'; topic: string }

export const overlay = createStore<Overlay | null>(null)

export type Seen = { readonly href: string; readonly title: string }

/** The pages that were seen last, for the commands; the newest first, in this tab only. */
export const recentPages = createStore<readonly Seen[]>([])

const maxRecent = 8

export function noteRecent(href: string, title: string): void {
  const others = recentPages.get().filter((one) => one.href !== href)
  recentPages.set([{ href, title }, ...others].slice(0, maxRecent))
}
