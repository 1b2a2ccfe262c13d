// Quiet hours such as "22:00-07:00 Europe/Berlin": what comes in them waits for their end. They follow the clock on the
// wall, also over a change of clocks.

const form = /^([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d) ([A-Za-z_+\-/0-9]+)$/

type QuietHours = { from: number; to: number; zone: string }

/** Null where the text is no quiet hours, or names a time zone that does not exist. */
export function parseQuietHours(text: string): QuietHours | null {
  const match = form.exec(text)
  if (match === null) return null
  const [, fromHour, fromMinute, toHour, toMinute, zone] = match
  try {
    minuteOfDay(new Date(0), zone!)
  } catch {
    return null
  }
  const from = Number(fromHour) * 60 + Number(fromMinute)
  const to = Number(toHour) * 60 + Number(toMinute)
  return from === to ? null : { from, to, zone: zone! }
}

const minuteMs = 60_000

/** When the quiet hours that `now` is in will end; null where it is in none. */
export function quietUntil(text: string | null, now: Date): Date | null {
  const quiet = text === null ? null : parseQuietHours(text)
  if (quiet === null || !isWithin(quiet, minuteOfDay(now, quiet.zone))) return null
  // Minute by minute, because on two days of the year hours are missing or come twice.
  const first = Math.floor(now.getTime() / minuteMs) + 1
  for (let minute = first; minute <= first + 26 * 60; minute += 1) {
    const at = new Date(minute * minuteMs)
    if (!isWithin(quiet, minuteOfDay(at, quiet.zone))) return at
  }
  return null
}

function isWithin({ from, to }: QuietHours, minute: number): boolean {
  return from < to ? minute >= from && minute < to : minute >= from || minute < to
}

const clocks = new Map<string, Intl.DateTimeFormat>()

/** @throws RangeError where the zone does not exist */
function minuteOfDay(at: Date, zone: string): number {
  const clock =
    clocks.get(zone) ??
    new Intl.DateTimeFormat('en-GB', { timeZone: zone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
  clocks.set(zone, clock)
  const [hour, minute] = clock.format(at).split(':').map(Number)
  return hour! * 60 + minute!
}
