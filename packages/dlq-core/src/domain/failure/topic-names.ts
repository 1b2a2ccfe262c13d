// What a topic's name says: whether it is a DLQ topic, which original topic it has
// if the headers do not name one, and whether automatic retries may be sent to it.

import { isUuid } from '../record/message-id.ts'
import type { FailureContext } from './failure-context.ts'
import type { Family } from './families/family.ts'
import { captureGlob, matchesTopicGlobs, type TopicGlobs } from './topic-globs.ts'

/** Which topic the dead letters of a DLQ topic come from: `original` may use the glob's `*` as `$1`, `$2` … */
export type TopicMapping = { readonly dlq: string; readonly original: string }

/** How the original topic is known; null: it is unknown, and the DLQ topic takes its place. */
export type OriginalTopicSource = 'header' | 'mapping' | 'guessed' | null

export type OriginalTopic = { readonly topic: string; readonly source: OriginalTopicSource }

/** Why a message must not be sent to its topic unless somebody asks for it. */
export type ReplayHazard =
  | 'not-replayable'
  | 'unknown'
  | 'guessed'
  | 'uuid'
  | 'negative-partition'
  | 'internal'
  | 'dlq-topic'
  | 'retry-topic'

// Kafka's own bound and alphabet (org.apache.kafka.common.internals.Topic).
const legalTopic = /^(?!\.{1,2}$)[\w.-]{1,249}$/

/**
 * The original topic by the defaults of known frameworks and the usual habits, or null:
 * `orders-dlt`, `orders.DLT` (Spring), `orders.dlq`, `orders-dlq`, `orders_dlq`, `orders.dlq.v1`,
 * `dead-letter-topic-orders` (SmallRye; in truth the channel), `dlq.orders` (share groups),
 * `error.orders.group` (Spring Cloud Stream; the topic may contain dots, the group is the last part).
 */
export function guessOriginalTopic(dlqTopic: string): string | null {
  if (!legalTopic.test(dlqTopic)) return null
  const suffix = /[._-](?:dlq|dlt)(?:\.v\d+)?$/i.exec(dlqTopic)
  if (suffix !== null) return dlqTopic.slice(0, suffix.index) || null
  for (const prefix of ['dead-letter-topic-', 'dlq.']) {
    if (dlqTopic.startsWith(prefix)) return dlqTopic.slice(prefix.length) || null
  }
  const group = dlqTopic.lastIndexOf('.')
  return dlqTopic.startsWith('error.') && group > 'error.'.length ? dlqTopic.slice('error.'.length, group) : null
}

/**
 * The topic that a dead letter came from: as its headers say, else by the first mapping whose glob
 * matches the DLQ topic, else guessed by the name, else the DLQ topic itself, with source null.
 */
export function resolveOriginalTopic(
  context: Pick<FailureContext, 'originalTopic'>,
  dlqTopic: string,
  mappings: readonly TopicMapping[],
): OriginalTopic {
  // A name that no topic can have is kept in the raw headers only.
  if (context.originalTopic !== null && legalTopic.test(context.originalTopic)) {
    return { topic: context.originalTopic, source: 'header' }
  }
  for (const topic of mappedOriginals(dlqTopic, mappings)) {
    if (legalTopic.test(topic)) return { topic, source: 'mapping' }
  }
  const guessed = guessOriginalTopic(dlqTopic)
  return guessed === null ? { topic: dlqTopic, source: null } : { topic: guessed, source: 'guessed' }
}

/** What the mappings whose glob matches the DLQ topic say: names of topics, or globs for many. */
export function mappedOriginals(dlqTopic: string, mappings: readonly TopicMapping[]): string[] {
  return mappings.flatMap(({ dlq, original }) => {
    const captures = captureGlob(dlq, dlqTopic)
    return captures === null ? [] : original.replace(/\$(\d)/g, (_, number) => captures[number - 1] ?? '')
  })
}

/** The first `$n` of `original` for which the glob has no `*`, such as `$2`; null where there is none. */
export function wildcardThatIsMissing({ dlq, original }: TopicMapping): string | null {
  const wildcards = dlq.split('*').length - 1
  const used = original.match(/\$\d/g) ?? []
  return used.find((name) => name === '$0' || Number(name.slice(1)) > wildcards) ?? null
}

export type ReplayTarget = {
  /** As `resolveOriginalTopic` says; `caller`: somebody named the topic. */
  readonly source: OriginalTopicSource | 'caller'
  /** The patterns of the ingested topics: a message that is sent there would be stored as a dead letter. */
  readonly dlqPatterns: TopicGlobs
  readonly partition: number | null
  /** The family of the dead letter's headers; it decides where the name alone cannot. */
  readonly family?: Family | null
}

/** Why the target must never be retried automatically; null if it may be. */
export function replayHazard(
  target: string,
  { source, dlqPatterns, partition, family = null }: ReplayTarget,
): ReplayHazard | null {
  if (family === 'ksqldb') return 'not-replayable'
  if (source === null || !legalTopic.test(target)) return 'unknown'
  if (source === 'guessed') return 'guessed'
  if (isUuid(target) || (family === 'share-group' && isKafkaUuid(target))) return 'uuid'
  if (partition !== null && partition < 0) return 'negative-partition'
  const before = namedHazards.get(target)
  if (before?.dlqPatterns === dlqPatterns) return before.hazard
  const hazard = hazardOfName(target, dlqPatterns)
  if (namedHazards.size >= maxNamedHazards) namedHazards.clear()
  namedHazards.set(target, { dlqPatterns, hazard })
  return hazard
}

/** What was told of names before: a topic has many records. */
const namedHazards = new Map<string, { dlqPatterns: TopicGlobs; hazard: ReplayHazard | null }>()
const maxNamedHazards = 1000

function hazardOfName(target: string, dlqPatterns: TopicGlobs): ReplayHazard | null {
  if (looksInternal(target)) return 'internal'
  if (matchesTopicGlobs(dlqPatterns, target) || looksLikeDlqTopic(target)) return 'dlq-topic'
  return looksLikeRetryTopic(target) ? 'retry-topic' : null
}

/** Whether the name has the shape of a DLQ topic, whatever the configuration says. */
export function looksLikeDlqTopic(topic: string): boolean {
  return guessOriginalTopic(topic) !== null || (legalTopic.test(topic) && deadLetterName.test(topic))
}

/** Whether the name has the shape of a retry topic: Spring's `-retry-0`, `-retry-5000-1`, SmallRye's `_retry_10000`. */
export function looksLikeRetryTopic(topic: string): boolean {
  return legalTopic.test(topic) && retryName.test(topic)
}

/** The name without the suffix that frameworks give to retry topics, and to the groups that read them. */
export function withoutRetrySuffix(name: string): string {
  return name.replace(retryName, '')
}

const deadLetterName = /(?:^|[._-])(?:dlq|dlt|dead[._-]?letters?(?:[._-](?:queue|topic))?)$/i
const retryName = /[._-]retry(?:[._-]\d+){0,2}$/i

/** Kafka's, Schema Registry's, Confluent's, Streams', Connect's and MirrorMaker's own topics. */
export function looksInternal(topic: string): boolean {
  return (
    topic.startsWith('__') ||
    topic === '_schemas' ||
    topic.startsWith('_confluent') ||
    /-(?:changelog|repartition)$/.test(topic) ||
    /-KTABLE-FK-JOIN-SUBSCRIPTION-(?:REGISTRATION|RESPONSE)-\d+-topic$/.test(topic) ||
    /(?:^|[._-])connect[._-](?:configs?|offsets?|status)$/.test(topic) ||
    /^mm2-.+\.internal$|\.checkpoints\.internal$/.test(topic)
  )
}

/**
 * Whether the text is a UUID as Kafka prints its topic ids: 16 bytes in URL-safe base64, 22 characters,
 * the last of which has two bits. A topic's name may be 22 characters as well, but would hardly be
 * mixed in case too.
 */
function isKafkaUuid(text: string): boolean {
  return /^[\w-]{21}[AQgw]$/.test(text) && /[A-Z]/.test(text) && /[a-z]/.test(text)
}
