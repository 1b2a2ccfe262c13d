// A time: relative, and in full on hover and focus. `now` comes from the page, which has one timer.

import { absoluteTime, clockTime, relativeTime, spanText, type Zone } from '../../domain/time.ts'

type Props = {
  at: string | number | null
  now: number
  zone: Zone
  style: 'relative' | 'absolute'
  /** "3 h 10 m ago" instead of "3 h ago". */
  long?: boolean
}

export function TimeText({ at, now, zone, style, long = false }: Props) {
  if (at === null) return <span>–</span>
  const ms = typeof at === 'number' ? at : Date.parse(at)
  const full = absoluteTime(ms, zone)
  const short = style === 'relative' ? relativeTime(ms, now, long ? spanText : undefined) : clockTime(ms, now, zone)
  return (
    <time dateTime={new Date(ms).toISOString()} title={full}>
      {short}
    </time>
  )
}
