// Kafka's settings of topics, as far as they say what is deleted and when.

import type { TopicSettings } from 'dlq-core/queries/ingest/topic-partitions.ts'
import kafkajs, { type Admin } from 'kafkajs'

export async function describeTopics(
  admin: Pick<Admin, 'describeConfigs'>,
  topics: readonly string[],
): Promise<TopicSettings[]> {
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: topics.map((name) => ({
      type: kafkajs.ConfigResourceTypes.TOPIC,
      name,
      configNames: ['retention.ms', 'retention.bytes', 'cleanup.policy'],
    })),
  })
  return resources.map(({ resourceName, configEntries }) => {
    const values = new Map(configEntries.map(({ configName, configValue }) => [configName, configValue]))
    const number = (name: string) => (values.get(name) ? BigInt(values.get(name)!) : null)
    return {
      topic: resourceName,
      retention_ms: number('retention.ms'),
      retention_bytes: number('retention.bytes'),
      cleanup_policy: values.get('cleanup.policy') ?? null,
    }
  })
}
