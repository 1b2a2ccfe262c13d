// Topics and consumer groups of one test file on the shared broker. Their names are unique among files and calls, and
// they are deleted at the end.
import { randomBytes } from 'node:crypto'
import { createTopicReader, type TopicReader } from 'dlq-core/runtime/kafka/topic-reader.ts'
import type { Admin, Kafka } from 'kafkajs'
import { afterAll, beforeAll, inject } from 'vitest'
import { eventually } from '../eventually.ts'
import { createTopics } from './create-topics.ts'
import '../provided.ts'
import { createTestKafka } from './test-kafka.ts'

/** How a topic is made; one partition by default. */
export type TopicOptions = { partitions?: number; config?: Record<string, string> }

/** The file's Kafka; usable inside hooks and tests. */
export type TestTopics = {
  readonly brokers: string[]
  /** A quiet client. A test that creates a producer or consumer of it also closes that. */
  readonly kafka: Kafka
  readonly admin: Admin
  readonly reader: TopicReader
  /** A unique topic name that ends with `suffix`, for tests that need `.DLT` or `.dlq` there. Deleted at the end. */
  topicName(base: string, suffix?: string): string
  /** A topic whose name follows from another's, such as its DLQ topic. Deleted at the end. */
  claimTopic(name: string): string
  /** A unique consumer group. Deleted at the end. */
  groupName(base: string): string
  /** Makes a topic and returns its name. */
  createTopic(base: string, options?: TopicOptions & { suffix?: string }): Promise<string>
}

/** Call once at the top of a `.kafka.test.ts`, before other hooks. */
export function useTopics(): TestTopics {
  const topics = new Set<string>()
  const groups = new Set<string>()
  let opened: { kafka: Kafka; admin: Admin; reader: TopicReader; brokers: string[] } | undefined
  const use = () => {
    if (!opened) throw new Error('useTopics(): Kafka is there only inside hooks and tests')
    return opened
  }
  // Readable first: a base name, then what makes it unique.
  const unique = (base: string) => `${base}-${inject('testStack').runId}-${randomBytes(4).toString('hex')}`

  beforeAll(async () => {
    const { kafkaBrokers: brokers } = inject('testStack')
    const kafka = createTestKafka(brokers)
    const admin = kafka.admin()
    await admin.connect()
    opened = { kafka, admin, reader: createTopicReader(kafka), brokers }
  })

  afterAll(async () => {
    if (!opened) return
    const { admin, reader } = opened
    try {
      await deleteGroups(admin, groups)
      // Repeats where an old list named a group that was just deleted.
      await eventually(async () => {
        const existing = new Set(await admin.listTopics())
        const ours = [...topics].filter((topic) => existing.has(topic))
        if (ours.length > 0) await admin.deleteTopics({ topics: ours })
      })
    } finally {
      await reader.disconnect()
      await admin.disconnect()
    }
  })

  const topicName = (base: string, suffix = '') => {
    const name = `${unique(base)}${suffix}`
    topics.add(name)
    return name
  }
  return {
    get brokers() {
      return use().brokers
    },
    get kafka() {
      return use().kafka
    },
    get admin() {
      return use().admin
    },
    get reader() {
      return use().reader
    },
    topicName,
    claimTopic(name) {
      topics.add(name)
      return name
    },
    groupName(base) {
      const name = unique(base)
      groups.add(name)
      return name
    },
    async createTopic(base, { partitions = 1, config = {}, suffix = '' } = {}) {
      const topic = topicName(base, suffix)
      const configEntries = Object.entries(config).map(([name, value]) => ({ name, value }))
      await createTopics(use().admin, [{ topic, numPartitions: partitions, configEntries }])
      return topic
    },
  }
}

/** A group that still has members, or never came to be, cannot be deleted; the broker forgets it by itself. */
async function deleteGroups(admin: Admin, groups: Set<string>): Promise<void> {
  if (groups.size > 0) await admin.deleteGroups([...groups]).catch(() => {})
}
