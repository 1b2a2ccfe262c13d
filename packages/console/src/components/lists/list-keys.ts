// j and k in a list: the focus goes from one `[data-row]` to the next, so that Enter opens what is looked at.

import { useKeys } from '../keys.ts'

export function useListKeys(): void {
  useKeys({ j: () => move(1), k: () => move(-1), o: () => current()?.click() })
}

function rows(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>('main [data-row]')]
}

function current(): HTMLElement | null {
  return document.activeElement?.closest<HTMLElement>('main [data-row]') ?? null
}

function move(by: 1 | -1): void {
  const all = rows()
  const at = all.indexOf(current()!)
  const next = all[at === -1 ? 0 : Math.min(all.length - 1, Math.max(0, at + by))]
  next?.focus()
  next?.scrollIntoView({ block: 'nearest' })
}
