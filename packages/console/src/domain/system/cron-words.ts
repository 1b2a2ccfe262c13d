// A schedule in words, for those that people write; others stay as they are.

import { spanText } from '../time.ts'

const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']

/** "every day at 03:00 UTC" of "0 3 * * *". Null: the job is off. */
export function cronWords(schedule: string | null): string {
  if (schedule === null) return 'off: only when somebody asks'
  const fields = schedule.trim().split(/\s+/)
  if (fields.length !== 5) return schedule
  const [minute, hour, day, month, weekday] = fields as [string, string, string, string, string]
  if (month !== '*') return schedule
  const everyMinutes = stepOf(minute)
  if (everyMinutes !== null && hour === '*' && day === '*' && weekday === '*')
    return everyMinutes === 1 ? 'every minute' : `every ${everyMinutes} minutes`
  if (!isNumber(minute)) return schedule
  const everyHours = stepOf(hour)
  if (everyHours !== null && day === '*' && weekday === '*')
    return `${everyHours === 1 ? 'every hour' : `every ${everyHours} hours`} at minute ${minute}`
  if (!isNumber(hour)) return schedule
  const at = `at ${hour.padStart(2, '0')}:${minute.padStart(2, '0')} UTC`
  if (day === '*' && weekday === '*') return `every day ${at}`
  if (day === '*' && isNumber(weekday)) return `every ${days[Number(weekday) % 7]} ${at}`
  if (weekday === '*' && isNumber(day)) return `on day ${day} of every month ${at}`
  return schedule
}

/** Retriers write the next tick twice a minute. */
const toldWithinMs = 60_000

/** Whether the tick is the last one, and the next one is not known yet. */
export function isJustOver(tick: string, now: number): boolean {
  const agoMs = now - Date.parse(tick)
  return agoMs >= 0 && agoMs < toldWithinMs
}

/** "the next time in 3 h". Where the time is over for longer than that, nobody runs it. */
export function nextTickWords(tick: string, now: number): string {
  if (isJustOver(tick, now)) return 'the next time about now'
  const inMs = Date.parse(tick) - now
  return inMs >= 0
    ? `the next time in ${spanText(inMs)}`
    : `it has been due for ${spanText(-inMs)}, and no retrier has begun it`
}

/** 1 of a star, n of a star with "/n". */
function stepOf(field: string): number | null {
  if (field === '*') return 1
  const [, step] = /^\*\/(\d{1,2})$/.exec(field) ?? []
  return step === undefined ? null : Number(step)
}

function isNumber(field: string): boolean {
  return /^\d{1,2}$/.test(field)
}
