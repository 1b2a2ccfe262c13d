// Live updates: what is on screen is asked again, unless somebody paused it, or the tab is hidden.

import { focusManager } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { toldWaitMs } from './faults.ts'
import { pagesOf } from './query-client.ts'
import { serverNow } from './server-clock.ts'
import { createStore, useStore } from './store.ts'

export const livePaused = createStore(false)

/** Pausing stops everything, also what would be asked when the tab gets the focus. */
export function setLivePaused(paused: boolean): void {
  livePaused.set(paused)
  focusManager.setFocused(paused ? false : undefined)
}

/** For `refetchInterval`. A list of more pages is read less often, and an answer may ask for more time. */
export type LiveInterval = (query: { state: { data?: unknown; error: unknown } }) => number | false

export function useLive(intervalMs: number): LiveInterval {
  const paused = useStore(livePaused)
  return ({ state: { data, error } }) => (paused ? false : Math.max(intervalMs * pagesOf(data), toldWaitMs(error)))
}

const ticks = createStore(serverNow())
let watchers = 0
let timer: ReturnType<typeof setInterval> | undefined

/** The server's time, once a second, by one timer for the whole page. */
export function useNow(): number {
  useEffect(() => {
    watchers += 1
    timer ??= setInterval(() => ticks.set(serverNow()), 1000)
    return () => {
      watchers -= 1
      if (watchers > 0) return
      clearInterval(timer)
      timer = undefined
    }
  }, [])
  return useStore(ticks)
}

const slowAfterMs = 200

/** True once `waiting` has lasted for `afterMs`, by default a moment: before that, nothing new is shown. */
export function useSlow(waiting: boolean, afterMs = slowAfterMs): boolean {
  const [slow, setSlow] = useState(false)
  useEffect(() => {
    if (!waiting) return setSlow(false)
    const delay = setTimeout(() => setSlow(true), afterMs)
    return () => clearTimeout(delay)
  }, [waiting, afterMs])
  return slow && waiting
}

/** The value that has not changed for a while. */
export function useSettled<T>(value: T, delayMs: number): T {
  const [settled, setSettled] = useState(value)
  const text = JSON.stringify(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), delayMs)
    return () => clearTimeout(timer)
  }, [text, delayMs])
  return settled
}
