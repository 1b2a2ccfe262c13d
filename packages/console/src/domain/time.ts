// Times for people. Relative ones are never negative, and have one unit, or two where the second matters.

const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/** "4 s", "12 m", "3 h 10 m", "2 d 4 h", "5 d". */
export function spanText(ms: number): string {
  const rest = Math.max(0, ms)
  if (rest < minute) return `${Math.floor(rest / second)} s`
  if (rest < 10 * minute) return two(rest, minute, 'm', second, 's')
  if (rest < hour) return `${Math.floor(rest / minute)} m`
  if (rest < day) return two(rest, hour, 'h', minute, 'm')
  if (rest < 7 * day) return two(rest, day, 'd', hour, 'h')
  return `${Math.floor(rest / day)} d`
}

function two(ms: number, large: number, largeName: string, small: number, smallName: string): string {
  const rest = Math.floor((ms % large) / small)
  return `${Math.floor(ms / large)} ${largeName}${rest === 0 ? '' : ` ${rest} ${smallName}`}`
}

/** One unit, for tables: "4 s", "12 m", "3 h", "5 d". */
export function shortSpan(ms: number): string {
  const rest = Math.max(0, ms)
  if (rest < minute) return `${Math.floor(rest / second)} s`
  if (rest < hour) return `${Math.floor(rest / minute)} m`
  if (rest < 2 * day) return `${Math.floor(rest / hour)} h`
  return `${Math.floor(rest / day)} d`
}

/** "now", "4 s ago", "in 40 s", seen from the server's clock. */
export function relativeTime(at: number, now: number, span: (ms: number) => string = shortSpan): string {
  const ms = now - at
  if (Math.abs(ms) < second) return 'now'
  return ms > 0 ? `${span(ms)} ago` : `in ${span(-ms)}`
}

export type Zone = 'local' | 'utc'

/** As in "18:00 in your time". */
export function zoneWords(zone: Zone): string {
  return zone === 'utc' ? 'UTC' : 'your time'
}

/** "2026-11-22 06:39:22.123 +01:00". */
export function absoluteTime(at: number, zone: Zone): string {
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return 'at an unknown time'
  if (zone === 'utc') return `${date.toISOString().replace('T', ' ').replace('Z', '')} UTC`
  const offset = -date.getTimezoneOffset()
  const shifted = new Date(at + offset * minute).toISOString().replace('T', ' ').replace('Z', '')
  const sign = offset < 0 ? '-' : '+'
  return `${shifted} ${sign}${twoDigits(Math.floor(Math.abs(offset) / 60))}:${twoDigits(Math.abs(offset) % 60)}`
}

/** "06:39:22" of the same day, else "11-21 06:39". */
export function clockTime(at: number, now: number, zone: Zone): string {
  const text = absoluteTime(at, zone)
  return text.slice(0, 10) === absoluteTime(now, zone).slice(0, 10) ? text.slice(11, 19) : text.slice(5, 16)
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0')
}

/** The next time that it is `hours` o'clock, in the zone in which the page shows times. */
export function nextMorning(now: Date, zone: Zone, hours: number, weekday?: number): Date {
  const next = new Date(now)
  const dayOf = () => (zone === 'utc' ? next.getUTCDay() : next.getDay())
  if (zone === 'utc') next.setUTCHours(hours, 0, 0, 0)
  else next.setHours(hours, 0, 0, 0)
  while (next <= now || (weekday !== undefined && dayOf() !== weekday)) {
    if (zone === 'utc') next.setUTCDate(next.getUTCDate() + 1)
    else next.setDate(next.getDate() + 1)
  }
  return next
}

/**
 * A moment that somebody types, in ms since 1970, such as "2026-11-22 18:00", "2026-11-22 18:00 +01:00" or a time as the
 * page shows it. Where it says no zone it is meant in the one in which the page shows times. NaN where it is none.
 */
export function momentTyped(text: string, zone: Zone): number {
  const [, date, clock = '00:00', offset = zone === 'utc' ? 'Z' : ''] =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?))?(?: ?(Z|UTC|[+-]\d\d:\d\d))?$/i.exec(text.trim()) ?? []
  if (date === undefined || !isDay(date)) return Number.NaN
  return Date.parse(`${date}T${clock}${offset.replace(/^utc$/i, 'Z')}`)
}

/** Date.parse takes February 31 for a day of March. */
function isDay(date: string): boolean {
  const at = Date.parse(date)
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(date)
}
