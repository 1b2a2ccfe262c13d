// What a policy means for the topics that are there: which of its settings decide, where no other pattern
// names the topic more exactly.

import { compilePolicies, type PolicyLayers, type TopicPolicy } from 'dlq-core/effective-policy.ts'
import { fieldOfSetting, settingNames } from 'dlq-core/policy-settings.ts'
import type { TopicPair } from 'dlq-core/queries/summary.ts'
import { captureGlob } from 'dlq-core/topic-names.ts'

export type PolicyMatch = {
  original_topic: string
  dlq_topic: string | null
  /** The settings that this policy decides there. */
  decides: string[]
}

/** The known topics that the pattern matches, in their order. */
export function previewPolicy(
  pattern: string,
  {
    topics,
    configured,
    rows,
  }: { topics: readonly TopicPair[]; configured: Omit<PolicyLayers, 'rows'>; rows: readonly TopicPolicy[] },
): PolicyMatch[] {
  const policyFor = compilePolicies({ ...configured, rows })
  return topics
    .filter(({ original_topic, dlq_topic }) =>
      [original_topic, dlq_topic].some((topic) => topic !== null && captureGlob(pattern, topic) !== null),
    )
    .map(({ original_topic, dlq_topic }) => {
      const { origins } = policyFor({ originalTopic: original_topic, dlqTopic: dlq_topic })
      const decides = settingNames.filter((name) => {
        const origin = origins[fieldOfSetting[name]]
        return origin.source === 'policy' && origin.pattern === pattern
      })
      return { original_topic, dlq_topic, decides }
    })
}
