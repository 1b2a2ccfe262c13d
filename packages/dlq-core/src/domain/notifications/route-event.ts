// Which routes an event goes along, and when: the first at once, further ones together.

import { matchesTopicGlobs } from '../failure/topic-globs.ts'
import { type Event, type RouteRules, severityRank } from './event.ts'
import { quietUntil } from './quiet-hours.ts'

export function takesEvent(route: RouteRules, event: Event): boolean {
  const { types, topics, owners, min_severity, dead_threshold } = route
  if (types.length > 0 && !types.includes(event.type)) return false
  if (severityRank(event.severity) < severityRank(min_severity)) return false
  if (owners.length > 0 && !(event.owner !== null && owners.includes(event.owner))) return false
  // Each threshold has conditions of its own.
  if (event.type === 'dead.threshold' && event.data.threshold !== dead_threshold) return false
  if (topics.length === 0) return true
  return [event.original_topic, event.dlq_topic].some((topic) => topic !== null && matchesTopicGlobs(topics, topic))
}

export type Timing = { digestMs: number; quiet: string | null }

/**
 * When a delivery with this event is sent. `lastAt`: when the route was last given one. Quiet hours gather; what is
 * critical goes through.
 */
export function sendAt(
  event: Pick<Event, 'severity'>,
  { digestMs, quiet }: Timing,
  { now, lastAt }: { now: Date; lastAt: Date | null },
): Date {
  const gathered = lastAt === null ? now : new Date(Math.max(now.getTime(), lastAt.getTime() + digestMs))
  if (event.severity === 'critical') return gathered
  return quietUntil(quiet, gathered) ?? gathered
}

/** Ten seconds, then longer and longer: twelve tries in about sixteen hours. */
const waitsMs = [10, 30, 60, 300, 600, 1800, 3600, 7200, 10_800, 14_400, 18_000].map((seconds) => seconds * 1000)

/** How long to wait after the failed try of this number, from 1; null where it was the last. */
export function waitAfterMs(tries: number): number | null {
  return waitsMs[tries - 1] ?? null
}
