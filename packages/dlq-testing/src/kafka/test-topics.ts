// Topics and consumer groups of a test file's own, on the run's shared broker: named so
// that files and runs do not meet, and deleted at the end.
import { randomBytes } from 'node:crypto'
import type { Admin, Kafka } from 'kafkajs'
import { afterAll, beforeAll, inject } from 'vitest'
import { createTopics } from './create-topics.ts'
import { eventually } from './eventually.ts'
import './provided.ts'
import { createTestKafka } from './test-kafka.ts'

/** How a topic is made; one partition by default. */
export type TopicOptions = { partitions?: number; config?: Record<string, string> }

/** The file's Kafka; usable inside hooks and tests. */
export type TestTopics = {
  readonly brokers: string[]
  /** A quiet client. Whoever makes a producer or consumer of it also closes that. */
  readonly kafka: Kafka
  readonly admin: Admin
  /** A topic name nobody else has; `suffix` stays at its end, where `.DLT` or `.dlq` matters. Deleted at the end. */
  topicName(base: string, suffix?: string): string
  /** A consumer group nobody else has. Deleted at the end. */
  groupName(base: string): string
  /** Makes a topic and returns its name. */
  createTopic(base: string, options?: TopicOptions & { suffix?: string }): Promise<string>
}

/** Call once at the top of a `.kafka.test.ts`, before other hooks. */
export function useTopics(): TestTopics {
  const topics = new Set<string>()
  const groups = new Set<string>()
  let opened: { kafka: Kafka; admin: Admin; brokers: string[] } | undefined
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
    opened = { kafka, admin, brokers }
  })

  afterAll(async () => {
    if (!opened) return
    const { admin } = opened
    try {
      await deleteGroups(admin, groups)
      // Again where the list was old and named one that was just deleted.
      await eventually(async () => {
        const existing = new Set(await admin.listTopics())
        const ours = [...topics].filter((topic) => existing.has(topic))
        if (ours.length > 0) await admin.deleteTopics({ topics: ours })
      })
    } finally {
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
    topicName,
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
