// The topics that records may be sent to, and those that they may not, remembered for a while. Asked
// before publishing, because a missing topic makes kafkajs retry for seconds and then fail for all topics.

import { matchesTopicGlobs, replayHazard } from 'dlq-core/topic-names.ts'
import kafkajs, { type Admin, type ITopicMetadata, type Kafka, type PartitionMetadata } from 'kafkajs'
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
  /** One answer per topic; all that are not remembered are asked for together. @throws where Kafka or the database is away */
  find(topics: readonly string[]): Promise<ReadonlyMap<string, FoundTarget>>
  forget(topic: string): void
  close(): Promise<void>
}

export type TargetTopicsDeps = {
  kafka: Kafka
  /** Globs of the topics that are ingested. */
  dlqPatterns: readonly string[]
  /** Those of the names that were ingested some time. */
  dlqTopicsAmong: (topics: readonly string[]) => Promise<ReadonlySet<string>>
}

const rememberMs = 30_000
/** A topic that was missing may have been made meanwhile. */
const rememberRefusalMs = 2000
/** A plain bound: what is forgotten is asked for again. */
const maxRemembered = 10_000

export function createTargetTopics(deps: TargetTopicsDeps): TargetTopics {
  const known = new Map<string, { found: FoundTarget; until: number }>()
  // Asks once more at most: the slot owns the waits, and one bad topic must not hold up the others.
  const admin = deps.kafka.admin({ retry: { retries: 1 } })
  let connecting: Promise<void> | null = null

  async function connect(): Promise<void> {
    connecting ??= admin.connect()
    await connecting.catch((error) => {
      connecting = null
      throw error
    })
  }

  async function look(topics: readonly string[]): Promise<Map<string, FoundTarget>> {
    const dlqTopics = await deps.dlqTopicsAmong(topics)
    const found = new Map<string, FoundTarget>()
    for (const topic of topics) {
      const reason = refusalByName(topic, { dlqPatterns: deps.dlqPatterns, dlqTopics })
      if (reason !== null) found.set(topic, { kind: 'refused', reason })
    }
    const rest = topics.filter((topic) => !found.has(topic))
    if (rest.length > 0) {
      await connect()
      for (const [topic, target] of await askKafka(admin, rest)) found.set(topic, target)
    }
    if (known.size > maxRemembered) known.clear()
    for (const [topic, target] of found) {
      known.set(topic, {
        found: target,
        until: Date.now() + (target.kind === 'found' ? rememberMs : rememberRefusalMs),
      })
    }
    return found
  }

  return {
    async find(topics) {
      const remembered = new Map<string, FoundTarget>()
      for (const topic of topics) {
        const entry = known.get(topic)
        if (entry !== undefined && entry.until > Date.now()) remembered.set(topic, entry.found)
      }
      const unknown = topics.filter((topic) => !remembered.has(topic))
      return unknown.length === 0 ? remembered : new Map([...remembered, ...(await look(unknown))])
    },
    forget(topic) {
      known.delete(topic)
    },
    async close() {
      if (connecting !== null) await admin.disconnect()
    },
  }
}

function refusalByName(
  topic: string,
  { dlqPatterns, dlqTopics }: { dlqPatterns: readonly string[]; dlqTopics: ReadonlySet<string> },
): string | null {
  const hazard = replayHazard(topic, { source: 'caller', dlqPatterns, partition: null })
  if (hazard === 'unknown') return `${JSON.stringify(topic)} is no topic name`
  if (hazard === 'internal') return `${topic} is an internal topic of the cluster; nothing is republished there`
  // Only what is ingested: a name that merely looks like a DLQ topic's is somebody's decision.
  if (matchesTopicGlobs(dlqPatterns, topic) || dlqTopics.has(topic)) {
    return `${topic} is a DLQ topic: the message would come straight back; set redirect_topic in its policy`
  }
  return null
}

async function askKafka(admin: Admin, topics: readonly string[]): Promise<Map<string, FoundTarget>> {
  // listTopics answers at once where asking for a missing topic's metadata would be retried.
  const all = new Set(await admin.listTopics())
  const listed = topics.filter((topic) => all.has(topic))
  const [retentions, metadata] = await Promise.all([readRetentions(admin, listed), readMetadata(admin, listed)])
  const found = new Map<string, FoundTarget>()
  const note = (topic: string, partitions: PartitionMetadata[]) => {
    const target = createTarget(topic, partitions, retentions.get(topic) ?? defaultRetentionMs)
    found.set(topic, { kind: 'found', target })
  }
  for (const { name, partitions } of metadata) if (partitions.length > 0) note(name, partitions)
  const rest = topics.filter((topic) => !found.has(topic))
  await Promise.all(
    rest.map(async (topic) => {
      const answer = await askForOne(admin, topic, { isListed: all.has(topic) })
      if (Array.isArray(answer)) note(topic, answer)
      else found.set(topic, answer)
    }),
  )
  return found
}

/** Nothing where one of them is at fault; which one, they say themselves. */
async function readMetadata(admin: Admin, topics: readonly string[]): Promise<ITopicMetadata[]> {
  // kafkajs would ask for every topic of the cluster where none is named.
  if (topics.length === 0) return []
  try {
    return (await admin.fetchTopicMetadata({ topics: [...topics] })).topics
  } catch (error) {
    if (readKafkaFault(error as Error).type === null) throw error
    return []
  }
}

async function askForOne(
  admin: Admin,
  topic: string,
  { isListed }: { isListed: boolean },
): Promise<PartitionMetadata[] | FoundTarget> {
  try {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] })
    const partitions = topics[0]?.partitions ?? []
    if (isListed && partitions.length > 0) return partitions
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

const defaultRetentionMs = 7 * 86_400_000

/** Milliseconds; Infinity where nothing is deleted by age. Empty where we may not ask: then Kafka's default goes. */
async function readRetentions(admin: Admin, topics: readonly string[]): Promise<Map<string, number>> {
  if (topics.length === 0) return new Map()
  try {
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: topics.map((name) => ({
        type: kafkajs.ConfigResourceTypes.TOPIC,
        name,
        configNames: ['retention.ms', 'cleanup.policy'],
      })),
    })
    return new Map(
      resources.map(({ resourceName, configEntries }) => {
        const settingOf = (name: string) => configEntries.find(({ configName }) => configName === name)?.configValue
        const retentionMs = Number(settingOf('retention.ms') ?? defaultRetentionMs)
        const isKept = settingOf('cleanup.policy') === 'compact' || retentionMs < 0
        return [resourceName, isKept ? Number.POSITIVE_INFINITY : retentionMs]
      }),
    )
  } catch {
    return new Map()
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
