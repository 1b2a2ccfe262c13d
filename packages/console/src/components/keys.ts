// Keys of a page. The latest that binds a key wins; while somebody types, none is heard but those with a modifier.

import { useEffect, useRef } from 'react'

/** "r", "Shift+x", "g n" (one after the other), "Mod+Enter" (⌘ or Ctrl). */
export type Keys = Readonly<Record<string, () => void>>

type Place = 'page' | 'dialog'

const stack: { latest: { readonly current: Keys }; place: Place }[] = []
let prefix = ''
let prefixAt = 0
const sequenceMs = 1200

const onMac = /Mac|iP(ad|hone)/.test(navigator.platform)

/** A key as it is shown: "⌘↵", "Ctrl ↵", "⇧p". */
export function keyText(key: string): string {
  return key
    .replace('Mod+', onMac ? '⌘' : 'Ctrl ')
    .replace('Shift+', '⇧')
    .replace('Enter', '↵')
}

/** A key for `aria-keyshortcuts`. */
export function ariaKeys(key: string): string {
  return key
    .replace('Mod+', onMac ? 'Meta+' : 'Control+')
    .replace(/\+([a-z])$/, (_, letter: string) => `+${letter.toUpperCase()}`)
}

/** These go on while they are held. Any other would do to the next thing what was meant for one. */
const moves: ReadonlySet<string> = new Set(['j', 'k', '[', ']'])

export const keysEnabled = { current: true }

function isTyping(target: EventTarget | null): boolean {
  const element = target instanceof Element ? target : null
  // The editor lives in a shadow root; its host says that it is one.
  return element?.closest('input, textarea, select, [contenteditable], [role=textbox], [data-editor]') !== null
}

function nameOf(event: KeyboardEvent): string {
  const mod = event.metaKey || event.ctrlKey ? 'Mod+' : ''
  const letter = /^[A-Za-z]$/.test(event.key)
  const shift = event.shiftKey && (letter || event.key.length > 1) ? 'Shift+' : ''
  return mod + shift + (letter ? event.key.toLowerCase() : event.key)
}

function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.altKey || event.isComposing) return
  const name = nameOf(event)
  const plain = !name.startsWith('Mod+')
  if (plain && (!keysEnabled.current || isTyping(event.target))) return
  // A dialog or a menu has keys of its own: what lies beneath it does nothing meanwhile, wherever the focus is.
  const within =
    (event.target instanceof Element ? event.target.closest('[role=dialog], [role=menu], [role=listbox]') : null) ??
    document.querySelector('[role=dialog]')
  if (within !== null && plain) return
  const place: Place = within === null ? 'page' : 'dialog'
  const heard = stack.filter((keys) => keys.place === place)
  const sequence = event.timeStamp - prefixAt < sequenceMs ? `${prefix} ${name}` : name
  prefix = ''
  for (const keys of heard.toReversed()) {
    const act = keys.latest.current[sequence] ?? keys.latest.current[name]
    if (act === undefined) continue
    event.preventDefault()
    if (!event.repeat || moves.has(name)) act()
    return
  }
  if (heard.some(({ latest }) => Object.keys(latest.current).some((key) => key.startsWith(`${name} `)))) {
    prefix = name
    prefixAt = event.timeStamp
  }
}

/** A button that submits keeps every Enter to itself, and does nothing with one that has a modifier. */
function onSubmitKey(event: KeyboardEvent): void {
  if (nameOf(event) === 'Mod+Enter' && event.target instanceof Element && event.target.matches('[type=submit]'))
    onKeyDown(event)
}

/** Every key that is heard now. */
export function boundKeys(): string[] {
  return stack.flatMap(({ latest }) => Object.keys(latest.current))
}

/** Keys of the page, or of the dialog over it. */
export function useKeys(keys: Keys, place: Place = 'page'): void {
  const latest = useRef(keys)
  useEffect(() => {
    latest.current = keys
  })
  useEffect(() => {
    const bound = { latest, place }
    if (stack.length === 0) {
      window.addEventListener('keydown', onKeyDown)
      window.addEventListener('keydown', onSubmitKey, true)
    }
    stack.push(bound)
    return () => {
      stack.splice(stack.indexOf(bound), 1)
      if (stack.length > 0) return
      window.removeEventListener('keydown', onKeyDown)
      window.removeEventListener('keydown', onSubmitKey, true)
    }
  }, [place])
}
