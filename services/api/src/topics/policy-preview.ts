// Shows the effect of a policy on the known topics: which of its settings apply, because no other pattern matches the
// topic more exactly.

import { captureGlob } from 'dlq-core/domain/failure/topic-globs.ts'
import { compilePolicies, type PolicyLayers, type TopicPolicy } from 'dlq-core/domain/retry/effective-policy.ts'
import { fieldOfSetting, settingNames } from 'dlq-core/domain/retry/policy-settings.ts'
import type { TopicPair } from 'dlq-core/queries/reading/summary.ts'
import { shownSetting } from '../fleet/policy-json.ts'

export type PolicyMatch = TopicPair & {
  /** The settings that this policy decides for these topics. */
  decides: string[]
  /** The settings whose values in force differ from those before. */
  changes: { setting: string; before: ReturnType<typeof shownSetting>; after: ReturnType<typeof shownSetting> }[]
}

/** The known topics that the pattern matches, in the order given. `before`: the rows without the change; absent: there is none. */
export function previewPolicy(
  pattern: string,
  {
    topics,
    configured,
    rows,
    before = rows,
  }: {
    topics: readonly TopicPair[]
    configured: Omit<PolicyLayers, 'rows'>
    rows: readonly TopicPolicy[]
    before?: readonly TopicPolicy[] | undefined
  },
): PolicyMatch[] {
  const policyAfter = compilePolicies({ ...configured, rows })
  const policyBefore = compilePolicies({ ...configured, rows: before })
  return topics
    .filter(({ original_topic, dlq_topic }) =>
      [original_topic, dlq_topic].some((topic) => topic !== null && captureGlob(pattern, topic) !== null),
    )
    .map((pair) => {
      const { policy, origins } = policyAfter(pair)
      const { policy: policyThen } = policyBefore(pair)
      const decides = settingNames.filter((name) => {
        const origin = origins[fieldOfSetting[name]]
        return origin.source === 'policy' && origin.pattern === pattern
      })
      const changes = settingNames
        .map((name) => ({
          setting: name,
          before: shownSetting(name, policyThen[fieldOfSetting[name]]),
          after: shownSetting(name, policy[fieldOfSetting[name]]),
        }))
        .filter(({ before, after }) => JSON.stringify(before) !== JSON.stringify(after))
      return { ...pair, decides, changes }
    })
}
