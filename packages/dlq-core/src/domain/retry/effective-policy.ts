// The policy in force for a topic, and the origin of each value. Later places override earlier ones, field by
// field: the built-in defaults, the section "retry" of the configuration, its list "policies", the rows of
// dlq_policies. Within a list the more exact pattern wins:
//
//  1. the original topic's name, without wildcards; then the DLQ topic's name
//  2. fewer wildcards (`*` and `?` count the same)
//  3. more other characters
//  4. a match with the original topic before one with the DLQ topic only
//  5. alphabetical order, so that the answer is always the same
//
// Only a pattern for the original topic sets `delivery`, because applications claim by that name (dlq.policy_of).

import { captureGlob } from '../failure/topic-globs.ts'
import { fieldsOf, type PolicyField, type PolicySettings } from './policy-settings.ts'
import { defaultRetryPolicy, type RetryPolicy } from './retry-policy.ts'

/** Settings for the topics that match `pattern`, one glob with `*` and `?`. */
export type TopicPolicy = PolicySettings & { readonly pattern: string }

export type PolicyLayers = {
  /** The section "retry": for every topic. */
  readonly section: PolicySettings
  /** The list "policies" of the configuration. */
  readonly fileEntries: readonly TopicPolicy[]
  readonly rows: readonly TopicPolicy[]
}

/** The topics of a message, which decide its policy. `dlq_topic` is null if SQL or HTTP reported the message. */
export type MessageTopics = { readonly original_topic: string; readonly dlq_topic: string | null }

/** Looks up the policy in force for a message, or for its topics. */
export type PolicyOf = (topics: MessageTopics) => RetryPolicy

/** The place that set a field. `pattern`: that of the entry or row; null for the section "retry" and the built-in defaults. */
export type Origin = { readonly source: 'default' | 'config' | 'policy'; readonly pattern: string | null }

export type EffectivePolicy = {
  readonly policy: RetryPolicy
  readonly origins: { readonly [Field in PolicyField]: Origin }
}

/** Returns a function from topics to their policy. Work that does not depend on the topic is done once, here. */
export function compilePolicies({
  section,
  fileEntries,
  rows,
}: PolicyLayers): (topics: MessageTopics) => EffectivePolicy {
  const everywhere = overlay(builtIn, { fields: fieldsOf(section), origin: { source: 'config', pattern: null } })
  const lists = [compileList(fileEntries, 'config'), compileList(rows, 'policy')]
  return (topics) => lists.flatMap((list) => list(topics)).reduce(overlay, everywhere)
}

/** Whether any topic at all may have a policy that asks whether a message's key has newer records. */
export function mayAskAboutNewer({ section, fileEntries, rows }: PolicyLayers): boolean {
  const said = [defaultRetryPolicy, ...[section, ...fileEntries, ...rows].map(fieldsOf)]
  return said.some(({ staleness = 'ignore' }: Partial<RetryPolicy>) => staleness !== 'ignore')
}

/** What one layer says of a topic. */
export type Said = { readonly fields: Partial<RetryPolicy>; readonly origin: Origin }

/** Returns a function from topics to the layers that say something of them, the one that wins last. */
export function compileLayers({ section, fileEntries, rows }: PolicyLayers): (topics: MessageTopics) => Said[] {
  const below: Said[] = [
    { fields: defaultRetryPolicy, origin: { source: 'default', pattern: null } },
    { fields: fieldsOf(section), origin: { source: 'config', pattern: null } },
  ]
  const said = below.filter(({ fields }) => Object.keys(fields).length > 0)
  const lists = [compileList(fileEntries, 'config'), compileList(rows, 'policy')]
  return (topics) => [...said, ...lists.flatMap((list) => list(topics))]
}

const builtIn: EffectivePolicy = overlay(
  { policy: defaultRetryPolicy, origins: {} as EffectivePolicy['origins'] },
  {
    fields: defaultRetryPolicy,
    origin: { source: 'default', pattern: null },
  },
)

function overlay(under: EffectivePolicy, { fields, origin }: Said): EffectivePolicy {
  const origins = Object.fromEntries(Object.keys(fields).map((field) => [field, origin]))
  return { policy: { ...under.policy, ...fields }, origins: { ...under.origins, ...origins } }
}

type Match = { readonly said: Said; readonly pattern: string; readonly matchesOriginal: boolean }

/** The matching entries, the one that wins last. */
function compileList(entries: readonly TopicPolicy[], source: Origin['source']): (topics: MessageTopics) => Said[] {
  const compiled = entries.map((entry) => {
    const origin = { source, pattern: entry.pattern }
    const { delivery: _, ...ofDlqTopic } = fieldsOf(entry)
    return {
      pattern: entry.pattern,
      said: { fields: fieldsOf(entry), origin },
      saidOfDlqTopic: { fields: ofDlqTopic, origin },
    }
  })
  return ({ original_topic, dlq_topic }) =>
    compiled
      .flatMap(({ pattern, said, saidOfDlqTopic }): Match[] => {
        if (captureGlob(pattern, original_topic) !== null) return [{ pattern, said, matchesOriginal: true }]
        const matchesDlqTopic = dlq_topic !== null && captureGlob(pattern, dlq_topic) !== null
        return matchesDlqTopic ? [{ pattern, said: saidOfDlqTopic, matchesOriginal: false }] : []
      })
      .sort((a, b) => -compareMatches(a, b))
      .map(({ said }) => said)
}

/** Negative where `a` names the topic more exactly. */
function compareMatches(a: Match, b: Match): number {
  const originalFirst = Number(b.matchesOriginal) - Number(a.matchesOriginal)
  const wildcards = countWildcards(a.pattern) - countWildcards(b.pattern)
  if (wildcards !== 0) return wildcards
  // Two names without wildcards: the longer one is the DLQ topic's, which says nothing about exactness.
  if (countWildcards(a.pattern) === 0 && originalFirst !== 0) return originalFirst
  return b.pattern.length - a.pattern.length || originalFirst || (a.pattern < b.pattern ? -1 : 1)
}

function countWildcards(pattern: string): number {
  return pattern.match(/[*?]/g)?.length ?? 0
}
