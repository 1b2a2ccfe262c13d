// The topics that records may be sent to, and those that they may not, remembered for a while. Asked
// before publishing, because a missing topic makes kafkajs retry for seconds and then fail for all topics.

import { matchesTopicGlobs, replayHazard } from 'dlq-core/topic-names.ts'
import kafkajs, { type Admin, type Kafka, type PartitionMetadata } from 'kafkajs'
import { readKafkaFault } from './kafka-fault.ts'

export type TargetTopic = {
  topic: string
  /** The record's own partition where it still exists, else the one that Java's default partitioner gives its key. */
  partitionFor(record: { partition: number | null; key: Buffer | null; value: Buffer | null }): number
  /** The timestamp to send; undefined for the present, where the topic's retention would soon delete so old a record. */
  timestampFor(timestamp: Date | null, now: Date): string | undefined
}

export type FoundTarget =
  | { kind: 'found'; target: TargetTopic }
  /** Nothing may be sent there, and the next attempt would be refused too. */
  | { kind: 'refused'; reason: string }
  /** The topic alone cannot be asked for or written to now. */
  | { kind: 'unavailable'; error: Error }

export type TargetTopics = {
  /** @throws where Kafka or the database is away */
  find(topic: string): Promise<FoundTarget>
  forget(topic: string): void
  close(): Promise<void>
}

export type TargetTopicsDeps = {
  kafka: Kafka
  /** Globs of the topics that are ingested. */
  dlqPatterns: readonly string[]
  /** Whether the topic is one that was ingested some time. */
  isDlqTopic: (topic: string) => Promise<boolean>
}

const rememberMs = 30_000
/** A topic that was missing may have been made meanwhile. */
const rememberRefusalMs = 2000

export function createTargetTopics({ kafka, dlqPatterns, isDlqTopic }: TargetTopicsDeps): TargetTopics {
  const known = new Map<string, { found: FoundTarget; until: number }>()
  // Asks once: the loop of the slot owns the waits, and one bad topic must not hold up the others.
  const admin = kafka.admin({ retry: { retries: 1 } })
  let connecting: Promise<void> | null = null

  async function connected(): Promise<Admin> {
    connecting ??= admin.connect()
    await connecting.catch((error) => {
      connecting = null
      throw error
    })
    return admin
  }

  async function look(topic: string): Promise<FoundTarget> {
    const refusal = await refusalByName(topic)
    if (refusal !== null) return { kind: 'refused', reason: refusal }
    const asking = await connected()
    // listTopics answers at once where asking for a missing topic's metadata would be retried.
    const isListed = (await asking.listTopics()).includes(topic)
    try {
      const { topics } = await asking.fetchTopicMetadata({ topics: [topic] })
      const partitions = topics[0]?.partitions ?? []
      if (isListed && partitions.length > 0) {
        return { kind: 'found', target: createTarget(topic, partitions, await readRetention(asking, topic)) }
      }
    } catch (error) {
      const fault = readKafkaFault(error as Error)
      if (fault.type === null) throw error
      if (fault.type === 'TOPIC_AUTHORIZATION_FAILED') return { kind: 'refused', reason: `${topic}: ${fault.refusal}` }
      if (isListed) return { kind: 'unavailable', error: fault.error }
    }
    return {
      kind: 'refused',
      reason: `the topic ${topic} does not exist; create it, or set redirect_topic in its policy`,
    }
  }

  async function refusalByName(topic: string): Promise<string | null> {
    const hazard = replayHazard(topic, { source: 'caller', dlqPatterns, partition: null })
    if (hazard === 'unknown') return `${JSON.stringify(topic)} is no topic name`
    if (hazard === 'internal') return `${topic} is an internal topic of the cluster; nothing is republished there`
    // Only what is ingested: a name that merely looks like a DLQ topic's is somebody's decision.
    if (matchesTopicGlobs(dlqPatterns, topic) || (await isDlqTopic(topic))) {
      return `${topic} is a DLQ topic: the message would come straight back; set redirect_topic in its policy`
    }
    return null
  }

  return {
    async find(topic) {
      const remembered = known.get(topic)
      if (remembered && remembered.until > Date.now()) return remembered.found
      const found = await look(topic)
      known.set(topic, { found, until: Date.now() + (found.kind === 'found' ? rememberMs : rememberRefusalMs) })
      return found
    },
    forget(topic) {
      known.delete(topic)
    },
    async close() {
      if (connecting !== null) await admin.disconnect()
    },
  }
}

const defaultRetentionMs = 7 * 86_400_000

/** Milliseconds; Infinity where nothing is deleted by age. Kafka's default where we may not ask. */
async function readRetention(admin: Admin, topic: string): Promise<number> {
  try {
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: [
        { type: kafkajs.ConfigResourceTypes.TOPIC, name: topic, configNames: ['retention.ms', 'cleanup.policy'] },
      ],
    })
    const settingOf = (name: string) =>
      resources[0]?.configEntries.find(({ configName }) => configName === name)?.configValue
    if (settingOf('cleanup.policy') === 'compact') return Number.POSITIVE_INFINITY
    const retentionMs = Number(settingOf('retention.ms') ?? defaultRetentionMs)
    return retentionMs < 0 ? Number.POSITIVE_INFINITY : retentionMs
  } catch {
    return defaultRetentionMs
  }
}

function createTarget(topic: string, partitionMetadata: PartitionMetadata[], retentionMs: number): TargetTopic {
  const existing = new Set(partitionMetadata.map(({ partitionId }) => partitionId))
  const byKey = kafkajs.Partitioners.DefaultPartitioner()
  return {
    topic,
    partitionFor({ partition, key, value }) {
      if (partition !== null && existing.has(partition)) return partition
      return byKey({ topic, partitionMetadata, message: { key, value } })
    },
    timestampFor(timestamp, now) {
      // Half of the retention, so that consumers have the other half to read the record in.
      if (timestamp === null || now.getTime() - timestamp.getTime() > retentionMs / 2) return undefined
      return String(timestamp.getTime())
    },
  }
}
