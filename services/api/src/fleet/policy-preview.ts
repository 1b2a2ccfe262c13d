// Shows the effect of a policy on the known topics: which of its settings apply, because no other pattern matches the
// topic more exactly.

import { captureGlob } from 'dlq-core/domain/failure/topic-names.ts'
import {
  compilePolicies,
  type MessageTopics,
  type PolicyLayers,
  type TopicPolicy,
} from 'dlq-core/domain/retry/effective-policy.ts'
import { fieldOfSetting, settingNames } from 'dlq-core/domain/retry/policy-settings.ts'

export type PolicyMatch = {
  original_topic: string
  dlq_topic: string | null
  /** The settings that this policy decides for these topics. */
  decides: string[]
}

/** The known topics that the pattern matches, in the order given. */
export function previewPolicy(
  pattern: string,
  {
    topics,
    configured,
    rows,
  }: { topics: readonly MessageTopics[]; configured: Omit<PolicyLayers, 'rows'>; rows: readonly TopicPolicy[] },
): PolicyMatch[] {
  const effectivePolicyOf = compilePolicies({ ...configured, rows })
  return topics
    .filter(({ original_topic, dlq_topic }) =>
      [original_topic, dlq_topic].some((topic) => topic !== null && captureGlob(pattern, topic) !== null),
    )
    .map(({ original_topic, dlq_topic }) => {
      const { origins } = effectivePolicyOf({ original_topic, dlq_topic })
      const decides = settingNames.filter((name) => {
        const origin = origins[fieldOfSetting[name]]
        return origin.source === 'policy' && origin.pattern === pattern
      })
      return { original_topic, dlq_topic, decides }
    })
}
