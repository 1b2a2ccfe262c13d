// Which names of topics look like DLQ topics that nobody ingests.

import { guessOriginalTopic, looksInternal, looksLikeDlqTopic, looksLikeRetryTopic } from '../failure/topic-names.ts'

/** What speaks for a candidate: a record with headers of dead letters, its name, or a name that means other things too. */
export const confidences = ['headers', 'name', 'weak'] as const
export type Confidence = (typeof confidences)[number]

export type NamedCandidate = { readonly topic: string; readonly confidence: Exclude<Confidence, 'headers'> }

/**
 * Those of the names that look like DLQ topics: by the defaults of frameworks, or weakly by a habit such as `orders_error`.
 * A topic whose own DLQ topic stands among the names is where records come from, unless its name cannot mean that.
 */
export function candidateNames(topics: readonly string[]): NamedCandidate[] {
  const parents = new Set(topics.flatMap((topic) => guessOriginalTopic(topic) ?? []))
  return topics.flatMap((topic): NamedCandidate[] => {
    if (looksInternal(topic) || looksLikeRetryTopic(topic)) return []
    const isNamed = looksLikeDlqTopic(topic)
    if (!isNamed && !weakName.test(topic)) return []
    if (parents.has(topic) && !certainName.test(topic)) return []
    return [{ topic, confidence: isNamed ? 'name' : 'weak' }]
  })
}

const certainName = /[._-](?:dlq|dlt|dead[._-]?letters?)(?:\.v\d+)?$|^dead-letter-topic-/i
/** Habits of frameworks without a default name, such as `dlq-sink` (Connect) and `dead_messages` (Karafka). */
const weakName =
  /^dlq[_-]|(?:^|[._-])(?:errors?|failed|failures?|poison(?:[._-]?pills?)?|parking[._-]?lot|dead[._-]?messages?|ksql_processing_log)(?:\.v\d+)?$/i
