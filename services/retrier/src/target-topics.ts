// Which topics exist and how many partitions they have, remembered for a while. Asked before
// publishing, because a missing topic makes kafkajs retry for seconds and then fail for all topics.

import kafkajs, { type Admin, type PartitionMetadata } from 'kafkajs'

export type TargetTopic = {
  topic: string
  /** The record's own partition where it still exists, else the one that Java's default partitioner gives its key. */
  partitionFor(record: { partition: number | null; key: Buffer | null; value: Buffer | null }): number
}

export type TargetTopics = {
  /** Null where the topic does not exist. */
  find(topic: string): Promise<TargetTopic | null>
  forget(topic: string): void
}

const rememberMs = 30_000

export function createTargetTopics(admin: Admin): TargetTopics {
  const known = new Map<string, { target: TargetTopic; until: number }>()
  let connecting: Promise<void> | null = null

  async function look(topic: string): Promise<TargetTopic | null> {
    connecting ??= admin.connect().catch((error) => {
      connecting = null
      throw error
    })
    await connecting
    // listTopics answers at once where asking for a missing topic's metadata would be retried for seconds.
    if (!(await admin.listTopics()).includes(topic)) return null
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] })
    const partitions = topics[0]?.partitions ?? []
    return partitions.length === 0 ? null : createTarget(topic, partitions)
  }

  return {
    async find(topic) {
      const remembered = known.get(topic)
      if (remembered && remembered.until > Date.now()) return remembered.target
      const target = await look(topic)
      if (target) known.set(topic, { target, until: Date.now() + rememberMs })
      return target
    },
    forget(topic) {
      known.delete(topic)
    },
  }
}

function createTarget(topic: string, partitionMetadata: PartitionMetadata[]): TargetTopic {
  const existing = new Set(partitionMetadata.map(({ partitionId }) => partitionId))
  const byKey = kafkajs.Partitioners.DefaultPartitioner()
  return {
    topic,
    partitionFor({ partition, key, value }) {
      if (partition !== null && existing.has(partition)) return partition
      return byKey({ topic, partitionMetadata, message: { key, value } })
    },
  }
}
