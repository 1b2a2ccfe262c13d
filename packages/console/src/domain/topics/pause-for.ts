// For how long a topic is paused: a few choices, or a length of time or a moment that somebody types.

import { parseDuration } from 'dlq-core/domain/retry/duration.ts'
import { momentTyped, nextMorning, type Zone } from '../time.ts'

const pauseChoices = ['30m', '2h', 'morning', 'other', 'open'] as const
export type PauseChoice = (typeof pauseChoices)[number]

export type Until =
  | { readonly until: string | null; readonly fault: null }
  | { readonly until: null; readonly fault: string }

/** `until` is null where it lasts until somebody resumes it. Times are meant in `zone`. */
export function untilOf(choice: PauseChoice, typed: string, { now, zone }: { now: Date; zone: Zone }): Until {
  if (choice === 'open') return { until: null, fault: null }
  if (choice === 'morning') return { until: nextMorning(now, zone, 8).toISOString(), fault: null }
  return untilTyped(choice === 'other' ? typed : choice, { now, zone })
}

function untilTyped(typed: string, { now, zone }: { now: Date; zone: Zone }): Until {
  const text = typed.trim()
  // Digits alone would be milliseconds, or a year, which nobody means here.
  const ms = /^\d+$/.test(text) ? null : parseDuration(text)
  const at = ms === null ? momentTyped(text, zone) : now.getTime() + ms
  if (Number.isNaN(at))
    return { until: null, fault: 'Write a length of time such as 45m or 1d, or a moment such as 2026-11-22 18:00.' }
  if (at <= now.getTime()) return { until: null, fault: 'This is not in the future.' }
  return { until: new Date(at).toISOString(), fault: null }
}

/** The choice that a length of time is; `other` where it is none of them. */
export function choiceOf(duration: string | null): PauseChoice {
  if (duration === null) return 'open'
  return duration === '30m' || duration === '2h' ? duration : 'other'
}
