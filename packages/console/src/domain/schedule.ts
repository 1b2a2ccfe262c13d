// When a message is tried next, as somebody chooses it.

import { momentTyped, nextMorning, type Zone } from './time.ts'

export const scheduleChoices = [
  { id: 'now' as const, text: 'Now' },
  { id: 'hour' as const, text: 'In an hour' },
  { id: 'morning' as const, text: 'At 08:00' },
  { id: 'at' as const, text: 'At another time' },
  { id: 'never' as const, text: 'Not by itself', note: 'it waits until somebody sends it' },
]
export type ScheduleChoice = (typeof scheduleChoices)[number]['id']

type Chosen = { choice: ScheduleChoice; at: string; tries: string }

const mostTries = 1000

/** What is wrong with each field; null where nothing is. */
export function scheduleFault({ choice, at, tries }: Chosen): { at: string | null; tries: string | null } {
  const number = Number(tries)
  return {
    at: choice === 'at' && Number.isNaN(momentTyped(at, 'utc')) ? 'Choose a day and a time.' : null,
    tries:
      tries.trim() === '' || !Number.isInteger(number) || number < 1 || number > mostTries
        ? `A whole number from 1 to ${mostTries}.`
        : null,
  }
}

export type ScheduleRequest = { next_retry_at: string | null; max_retries?: number; reason?: string }

export function scheduleRequest(
  { choice, at, tries, before, reason }: Chosen & { before: { max_retries: number }; reason: string },
  /** Times are meant in `zone`. */
  { now, zone }: { now: Date; zone: Zone },
): ScheduleRequest {
  const time = {
    now: () => now,
    hour: () => new Date(now.getTime() + 3_600_000),
    morning: () => nextMorning(now, zone, 8),
    at: () => new Date(momentTyped(at, zone)),
    never: () => null,
  }[choice]()
  return {
    next_retry_at: time?.toISOString() ?? null,
    ...(Number(tries) === before.max_retries ? {} : { max_retries: Number(tries) }),
    ...(reason.trim() === '' ? {} : { reason: reason.trim() }),
  }
}
