// Says which ACL the ingester lacks where Kafka refuses it. infra/docs/security.md lists those that it needs.

import { refusalOf } from 'dlq-core/runtime/kafka/refusals.ts'
import type { TopicReader } from 'dlq-core/runtime/kafka/topic-reader.ts'

export type AskDeps = {
  reader: Pick<TopicReader, 'fetchLogBounds' | 'fetchRecords'>
  groupId: string
  topics: readonly string[]
}

/** Each costs two requests. */
const maxTopicsAsked = 200
/** Kafka returns at least one batch, however small the bound is. */
const oneBatch = 1

/** The missing ACL, such as "Read on Group dlq-manager.default"; null where the fault is another one. */
export async function missingAcl(error: unknown, { reader, groupId, topics }: AskDeps): Promise<string | null> {
  // A group is refused first when its coordinator is looked up, and kafkajs drops that answer.
  if (refusalOf(error) === 'GROUP_AUTHORIZATION_FAILED') return `Read on Group ${groupId}`
  if (refusalOf(error) !== 'TOPIC_AUTHORIZATION_FAILED') return null
  // Kafka has refused all of a request because of one topic, and the error does not name it.
  for (const topic of topics.slice(0, maxTopicsAsked))
    if (await isRefused(reader, topic)) return `Read on Topic ${topic}`
  return `Read on one of the topics ${topics.join(', ')}`
}

/** Whether Kafka refuses the topic to the ingester; false also where it says that there is none. */
export async function isRefused(reader: AskDeps['reader'], topic: string): Promise<boolean> {
  try {
    const [first] = await reader.fetchLogBounds([topic])
    if (first)
      await reader.fetchRecords({
        ...{ topic, partition: first.partition, offset: first.log_start_offset },
        maxBytes: oneBatch,
      })
    return false
  } catch (error) {
    return refusalOf(error) === 'TOPIC_AUTHORIZATION_FAILED'
  }
}
