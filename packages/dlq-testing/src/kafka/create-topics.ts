// Creates topics and waits until the broker serves them. kafkajs's waitForLeaders gives up at once if a broker does not
// know the topic yet, and so fails now and then.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Admin, ITopicConfig, Kafka } from 'kafkajs'

const timeoutMs = 90_000

/** Throws when a topic is not served within 90 s. Leaves an existing topic as it is. */
export async function createTopics(admin: Admin, topics: ITopicConfig[]): Promise<void> {
  await admin.createTopics({ topics, waitForLeaders: false })
  const names = topics.map(({ topic }) => topic)
  await until(() => areServed(admin, names), `not served: ${names.join(', ')}`)
}

/** The same for topics of `numPartitions` each, with a new admin. */
export async function createTopicsNamed(kafka: Kafka, names: readonly string[], numPartitions: number): Promise<void> {
  const admin = kafka.admin()
  await admin.connect()
  try {
    await createTopics(
      admin,
      names.map((topic) => ({ topic, numPartitions })),
    )
  } finally {
    await admin.disconnect()
  }
}

/** Deletes a topic, waits until the broker has forgotten it, and creates another one of its name. */
export async function recreateTopic(admin: Admin, topic: ITopicConfig): Promise<void> {
  await admin.deleteTopics({ topics: [topic.topic] })
  await until(async () => !(await admin.listTopics()).includes(topic.topic), `not deleted: ${topic.topic}`)
  await createTopics(admin, [topic])
}

async function until(isSo: () => Promise<boolean>, otherwise: string): Promise<void> {
  for (const deadline = Date.now() + timeoutMs; !(await isSo()); await sleep(50)) {
    if (Date.now() > deadline) throw new Error(`${otherwise}, within ${timeoutMs / 1000} s`)
  }
}

async function areServed(admin: Admin, names: string[]): Promise<boolean> {
  try {
    const { topics } = await admin.fetchTopicMetadata({ topics: names })
    if (!topics.every(({ partitions }) => partitions.length > 0 && partitions.every(({ leader }) => leader >= 0)))
      return false
    // A broker names itself as leader a moment before it serves the topic.
    await Promise.all(names.map((topic) => admin.fetchTopicOffsets(topic)))
    return true
  } catch {
    return false
  }
}
