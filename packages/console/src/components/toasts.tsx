// One line at the bottom, for "copied", for "undo", and for a fault whose place on the page was left. Nothing else that
// matters is said only here.

import { type ReactNode, useEffect } from 'react'
import { changeWords, faultOf } from '../data/faults.ts'
import { createStore, useStore } from '../data/store.ts'
import { Button } from './controls/button.tsx'
import { DirectedText } from './show/directed-text.tsx'
import styles from './toasts.module.css'

type Toast = { text: ReactNode; undo?: () => void; ms: number }

export const toast = createStore<Toast | null>(null)

export function say(text: ReactNode, undo?: () => void): void {
  toast.set({ text, ms: undo === undefined ? 3000 : 10_000, ...(undo === undefined ? {} : { undo }) })
}

/** Why a change was not made that nobody waits for any more. */
export function sayFault(error: unknown): void {
  const fault = faultOf(error)
  toast.set({ text: <DirectedText text={`${changeWords(fault)}: ${fault.message}`} />, ms: 10_000 })
}

export function Toasts() {
  const shown = useStore(toast)
  useEffect(() => {
    if (shown === null) return
    const timer = setTimeout(() => toast.set(null), shown.ms)
    return () => clearTimeout(timer)
  }, [shown])
  return (
    <div role="status" className={styles.place}>
      {shown === null ? null : (
        <div className={styles.toast}>
          <span>{shown.text}</span>
          {shown.undo === undefined ? null : (
            <Button
              look="quiet"
              hint="z"
              onPress={() => {
                toast.set(null)
                shown.undo?.()
              }}
            >
              Undo
            </Button>
          )}
        </div>
      )}
    </div>
  )
}

/** The clipboard, also on plain HTTP, where browsers have no clipboard API. */
export async function copyText(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    if (!copySelected(text)) return say(`The browser does not let this page copy ${what}`)
  }
  say(`Copied ${what}`)
}

/** Selects the text for a moment. False where the browser refuses. */
function copySelected(text: string): boolean {
  const focused = document.activeElement
  const area = document.createElement('textarea')
  area.value = text
  area.className = 'visually-hidden'
  document.body.append(area)
  area.select()
  const isCopied = document.execCommand('copy')
  area.remove()
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true })
  return isCopied
}
