// A topic to which a pattern applies, to show what follows from it.

import { captureGlob } from 'dlq-core/domain/failure/topic-globs.ts'
import type { MessageTopics } from 'dlq-core/domain/retry/effective-policy.ts'

type Known = { readonly topic: string; readonly counterparts: readonly string[] }

/** The first known topic that the pattern matches; else one that has its name, with x in the place of wildcards. */
export function sampleTopics(pattern: string, topics: readonly Known[]): MessageTopics {
  for (const { topic, counterparts } of topics) {
    const dlqTopic = counterparts.find((one) => captureGlob(pattern, one) !== null)
    if (captureGlob(pattern, topic) !== null) return { original_topic: topic, dlq_topic: counterparts[0] ?? null }
    if (dlqTopic !== undefined) return { original_topic: topic, dlq_topic: dlqTopic }
  }
  return { original_topic: pattern.replace(/[*?]/g, 'x'), dlq_topic: null }
}
