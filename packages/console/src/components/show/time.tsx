// A time: relative or absolute as this browser wants it, and in full on hover. The page has one timer for all of them.

import { useNow } from '../../data/live.ts'
import { settings } from '../../data/settings.ts'
import { useStore } from '../../data/store.ts'
import { absoluteTime, clockTime, relativeTime, spanText } from '../../domain/time.ts'

type Props = {
  at: string | number | null
  /** "3 h 10 m ago" instead of "3 h ago". */
  long?: boolean
  /** What is said where there is no time. */
  none?: string
}

export function Time({ at, long = false, none = '–' }: Props) {
  const { zone, times } = useStore(settings)
  const now = useNow()
  if (at === null) return <span>{none}</span>
  const ms = typeof at === 'number' ? at : Date.parse(at)
  const full = absoluteTime(ms, zone)
  const short = times === 'relative' ? relativeTime(ms, now, long ? spanText : undefined) : clockTime(ms, now, zone)
  return (
    <time dateTime={new Date(ms).toISOString()} title={full}>
      {short}
    </time>
  )
}
