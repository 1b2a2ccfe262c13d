// Kafka's settings of topics, as far as they say what is deleted and when.

import type { TopicSettings } from 'dlq-core/queries/ingest/topic-partitions.ts'
import { readTopicSettings } from 'dlq-core/runtime/kafka/questions/read-topic-settings.ts'
import type { Admin } from 'kafkajs'

const settingNames = ['retention.ms', 'retention.bytes', 'cleanup.policy']

export async function describeTopics(
  admin: Pick<Admin, 'describeConfigs'>,
  topics: readonly string[],
): Promise<TopicSettings[]> {
  const settings = await readTopicSettings(admin, topics, settingNames)
  return [...settings].map(([topic, values]) => {
    const number = (name: string) => (values.get(name) ? BigInt(values.get(name)!) : null)
    return {
      topic,
      retention_ms: number('retention.ms'),
      retention_bytes: number('retention.bytes'),
      cleanup_policy: values.get('cleanup.policy') ?? null,
    }
  })
}
