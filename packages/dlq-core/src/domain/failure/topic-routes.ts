// A route: which DLQ topic may speak for which original topic. Whoever writes a DLQ topic chooses the headers, so a
// header alone must not reach another team's topic. infra/docs/decisions/032-routes-before-headers.md says why.

import { matchesTopicGlobs } from './topic-globs.ts'
import { guessOriginalTopic, mappedOriginals, type TopicMapping, withoutRetrySuffix } from './topic-names.ts'

/**
 * `by_name` and `by_mapping` follow from names and from the configuration, `approved` and `blocked` are somebody's
 * decision, and `waiting` waits for one.
 */
export const routeStates = ['by_name', 'by_mapping', 'waiting', 'approved', 'blocked'] as const
export type RouteState = (typeof routeStates)[number]

export type Route = { readonly dlq_topic: string; readonly original_topic: string }

/** `trust`: every DLQ topic may speak for every original topic, unless somebody has blocked it. */
export const routeModes = ['ask', 'trust'] as const
export type RouteMode = (typeof routeModes)[number]

/** Whether dead letters of the route's DLQ topic are sent to its original topic, and count as its failures. */
export function isOpen(state: RouteState): boolean {
  return state !== 'waiting' && state !== 'blocked'
}

export type RouteSettings = { readonly mappings: readonly TopicMapping[]; readonly mode: RouteMode }

/** The state of a route about which nobody has decided. */
export function stateByConfiguration(
  { dlq_topic: dlqTopic, original_topic: originalTopic }: Route,
  { mappings, mode }: RouteSettings,
): RouteState {
  const original = withoutRetrySuffix(originalTopic)
  const mapped = mappedOriginals(dlqTopic, mappings)
  if (matchesTopicGlobs(mapped, originalTopic) || matchesTopicGlobs(mapped, original)) return 'by_mapping'
  if (isNamedAfter(dlqTopic, original)) return 'by_name'
  return mode === 'trust' ? 'by_mapping' : 'waiting'
}

/** Whether the original topic is another one than the DLQ topic's name says, as its retry topics and versions are. */
export function isVariant({ dlq_topic: dlqTopic, original_topic: originalTopic }: Route): boolean {
  return guessOriginalTopic(dlqTopic) !== originalTopic
}

/** Whether the DLQ topic's name says that it belongs to the original topic, or to a retry topic of it. */
function isNamedAfter(dlqTopic: string, original: string): boolean {
  const guessed = guessOriginalTopic(dlqTopic)
  if (guessed === null) return false
  if (withoutRetrySuffix(guessed) === original) return true
  // The specification's pair of names: "orders.dlq.v1" has the dead letters of "orders.events.v1".
  return original.startsWith(`${guessed}.events.v`) && /^\d+$/.test(original.slice(`${guessed}.events.v`.length))
}

/** Whether a record of the topic `origin` may be one that was sent to `target`: it stands there or in a retry topic of it. */
export function isSameFlow(origin: string, target: string): boolean {
  return origin === target || withoutRetrySuffix(origin) === target
}

/** Whether the consumer groups are known, and differ by more than the suffix of a retry topic's group. */
export function areOtherGroups(one: string | null, other: string | null): boolean {
  return one !== null && other !== null && withoutRetrySuffix(one) !== withoutRetrySuffix(other)
}

/** Why a message of a route that is not open is not sent by itself. */
export function notAllowed({ dlq_topic: dlqTopic, original_topic: originalTopic }: Route): string {
  return `${dlqTopic} has not been allowed to send to ${originalTopic}`
}
