// What is wrong with a DLQ topic, in words.

import { faultKinds, type TopicFault } from 'dlq-core/queries/discovery/origins.ts'
import * as v from 'valibot'

export const topicFaultSchema = v.pipe(
  v.strictObject({
    kind: v.pipe(
      v.picklist(faultKinds),
      v.description(
        'Nothing was stored for 30 days; an original topic is gone; a group that failed has had no members for 7 days; the topic is compacted; the topic takes no larger records than an original topic.',
      ),
    ),
    text: v.string(),
  }),
  v.title('TopicFault'),
)

const words: Record<TopicFault['kind'], (detail: string) => string> = {
  quiet: (detail) => `Nothing was stored since ${detail.slice(0, 10)}, and nothing waits: is it still used?`,
  original_gone: (detail) => `The ingester does not see the original topic ${detail} in Kafka.`,
  group_gone: (detail) => `The consumer group ${detail} has had no members for 7 days or more.`,
  compacted: (detail) =>
    `cleanup.policy is ${detail}: Kafka deletes all dead letters of a key but the last. Set it to delete.`,
  too_small: (detail) =>
    `max.message.bytes is not above that of its original topic (${detail}): a dead letter is larger than its record, so large ones are lost. Raise it.`,
}

export function topicFaultJson({ kind, detail }: TopicFault): v.InferOutput<typeof topicFaultSchema> {
  return { kind, text: words[kind](detail ?? '') }
}

export const exampleTopicFault = topicFaultJson({ cluster: '', topic: '', kind: 'compacted', detail: 'compact' })
