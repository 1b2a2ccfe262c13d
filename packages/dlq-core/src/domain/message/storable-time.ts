// Times that PostgreSQL takes as JavaScript writes them: beyond these years toISOString() has six digits and a sign. A
// time with an offset may leave them although its own year does not: 9999-12-31T23:59:59-01:00.

export const beyondStorableTimes = 'must be within the years 1 to 9999 (UTC)'

/** False for an invalid date as well. */
export function isStorableTime(time: Date): boolean {
  const year = time.getUTCFullYear()
  return year >= 1 && year <= 9999
}

/** Whether the date that an RFC 3339 time begins with is in the calendar: JavaScript reads 30 February as 2 March. */
export function isCalendarDate(time: string): boolean {
  const date = time.slice(0, 10)
  const day = new Date(date)
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(date)
}
