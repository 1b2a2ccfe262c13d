// Which topics records may be sent to, remembered for a while. The retrier looks before it publishes, because a missing
// topic makes kafkajs retry for seconds and then fail for all topics.

import { matchesTopicGlobs } from 'dlq-core/domain/failure/topic-globs.ts'
import { replayHazard } from 'dlq-core/domain/failure/topic-names.ts'
import { monotonicNow } from 'dlq-core/runtime/clock/monotonic-now.ts'
import { LeaderlessPartition } from 'dlq-core/runtime/kafka/kafkajs-internals.ts'
import kafkajs, { type Admin, type ITopicMetadata, type Kafka, type PartitionMetadata } from 'kafkajs'
import {
  type CheckedRecord,
  checkRecord,
  type RecordCheck,
  readTopicLimits,
  type TopicLimits,
  unknownLimits,
} from '../targets/topic-limits.ts'
import { readKafkaFault } from './kafka-fault.ts'

export type TargetTopic = {
  topic: string
  /** The record's own partition where it still exists, else the one that Java's default partitioner gives its key. */
  partitionFor(record: { partition: number | null; key: Buffer | null; value: Buffer | null }): number
  /** The timestamp to send. Undefined means the present: retention would soon delete a record as old as this one. */
  timestampFor(timestamp: Date | null, now: Date): string | undefined
  /** Whether the topic takes the record, as far as its configuration says. */
  check(record: CheckedRecord, now: Date): RecordCheck
  /** The most that one batch may have; Infinity where it is not known. */
  maxBatchBytes: number
}

export type FoundTarget =
  | { kind: 'found'; target: TargetTopic }
  /** Nothing may be sent there; the next attempt would be refused too. */
  | { kind: 'refused'; reason: string }
  /** This topic alone cannot be looked up or written to now. */
  | { kind: 'unavailable'; error: Error }

export type TargetTopics = {
  /** One answer per topic. Topics that are not remembered are looked up together. @throws where Kafka or the database is unavailable */
  find(topics: readonly string[]): Promise<ReadonlyMap<string, FoundTarget>>
  forget(topic: string): void
  close(): Promise<void>
}

export type TargetTopicsDeps = {
  kafka: Kafka
  /** Globs of the topics that are ingested. */
  dlqPatterns: readonly string[]
  /** Globs of the topics that messages may be sent to. Internal topics are never among them. */
  allowedTargets: readonly string[]
  /** Our own internal topic. */
  ledgerTopic: string
  /** The names among these that were ever ingested. */
  dlqTopicsAmong: (topics: readonly string[]) => Promise<ReadonlySet<string>>
}

const rememberMs = 30_000
/** Short, because a missing topic may be created any time. */
const rememberRefusalMs = 2000
/** A plain bound: a forgotten topic is looked up again. */
const maxRemembered = 10_000

export function createTargetTopics(deps: TargetTopicsDeps): TargetTopics {
  const known = new Map<string, { found: FoundTarget; until: number }>()
  // One retry only: the slot owns the waits, and one bad topic must not delay the others.
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
      const reason = refusalByName(topic, { ...deps, dlqTopics })
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
        until: monotonicNow() + (target.kind === 'found' ? rememberMs : rememberRefusalMs),
      })
    }
    return found
  }

  return {
    async find(topics) {
      const remembered = new Map<string, FoundTarget>()
      for (const topic of topics) {
        const entry = known.get(topic)
        if (entry !== undefined && entry.until > monotonicNow()) remembered.set(topic, entry.found)
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

/** Why nothing may be sent to a topic of this name, whoever asks; null where it may. */
export function refusalByName(
  topic: string,
  {
    dlqPatterns,
    allowedTargets,
    ledgerTopic,
    dlqTopics,
  }: Pick<TargetTopicsDeps, 'dlqPatterns' | 'allowedTargets' | 'ledgerTopic'> & { dlqTopics: ReadonlySet<string> },
): string | null {
  if (topic.includes('{group}'))
    return `${topic} names a consumer group, and the message has none; nothing is sent there`
  const hazard = replayHazard(topic, { source: 'caller', dlqPatterns, partition: null })
  if (hazard === 'unknown') return `${JSON.stringify(topic)} is no topic name`
  if (hazard === 'internal' || topic === ledgerTopic)
    return `${topic} is an internal topic of the cluster; nothing is republished there`
  if (!matchesTopicGlobs(allowedTargets, topic))
    return `${topic} is not among the topics of kafka.allowed_targets; nothing is republished there`
  // Only topics that are ingested: another topic may have a name like a DLQ topic's on purpose.
  if (matchesTopicGlobs(dlqPatterns, topic) || dlqTopics.has(topic)) {
    return `${topic} is a DLQ topic: the message would come straight back; set redirect_topic in its policy`
  }
  return null
}

async function askKafka(admin: Admin, topics: readonly string[]): Promise<Map<string, FoundTarget>> {
  // listTopics answers at once; kafkajs would retry a look-up of a missing topic's metadata.
  const all = new Set(await admin.listTopics())
  const listed = topics.filter((topic) => all.has(topic))
  const [limits, metadata] = await Promise.all([readTopicLimits(admin, listed), readMetadata(admin, listed)])
  const found = new Map<string, FoundTarget>()
  const note = (topic: string, partitions: PartitionMetadata[]) => {
    const unled = partitions.find(({ leader }) => leader < 0)
    if (unled !== undefined) {
      const error = new LeaderlessPartition({ topic, partition: unled.partitionId })
      found.set(topic, { kind: 'unavailable', error })
      return
    }
    const target = createTarget(topic, partitions, limits.get(topic) ?? unknownLimits)
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

/** Returns nothing where one topic is at fault; askForOne then finds out which. */
async function readMetadata(admin: Admin, topics: readonly string[]): Promise<ITopicMetadata[]> {
  // With an empty list kafkajs would ask for every topic of the cluster.
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

function createTarget(topic: string, partitionMetadata: PartitionMetadata[], limits: TopicLimits): TargetTopic {
  const existing = new Set(partitionMetadata.map(({ partitionId }) => partitionId))
  const byKey = kafkajs.Partitioners.DefaultPartitioner()
  return {
    topic,
    maxBatchBytes: limits.maxBatchBytes,
    check: (record, now) => checkRecord(limits, record, now),
    partitionFor({ partition, key, value }) {
      if (partition !== null && existing.has(partition)) return partition
      return byKey({ topic, partitionMetadata, message: { key, value } })
    },
    timestampFor(timestamp, now) {
      // Half of the retention, so that consumers have the other half to read the record in.
      if (timestamp === null || now.getTime() - timestamp.getTime() > limits.retentionMs / 2) return undefined
      return String(timestamp.getTime())
    },
  }
}
