// Dead letters that the run's fleet stores, for browser tests that need more than rows: what is sent again arrives in a
// topic that exists, and can fail there once more.

import type { Header } from 'dlq-core/domain/record/record.ts'
import type { Kafka, Message } from 'kafkajs'
import { eventually } from '../eventually.ts'
import { createTopics } from '../kafka/create-topics.ts'
import type { TopicRecord } from '../kafka/read-topic.ts'
import type { TestTopics } from '../kafka/test-topics.ts'
import { springDeadLetter } from '../rows/spring-dead-letter.ts'
import type { TestConsole } from './use-console.ts'

export type ConsoleTopics = { original: string; dlq: string; consumerGroup: string }

export type Letter = {
  value: Buffer | string | null
  key?: Buffer | string | null
  headers?: readonly Header[]
  /** Its name is the class. */
  error?: Error
  /** When the dead letter was written, in ms. */
  at?: number
  /** Where the record that failed stands, and when it was written, in ms. */
  original?: { offset: bigint; at: number }
}

/** Frames of an application and of its libraries, as Java writes them. */
const trace = (error: Error) =>
  [
    `${error.name}: ${error.message}`,
    '\tat com.example.orders.Payments.take(Payments.java:42)',
    '\tat com.example.orders.Listener.onOrder(Listener.java:17)',
    '\tat org.springframework.kafka.listener.KafkaMessageListenerContainer.run(KafkaMessageListenerContainer.java:900)',
    '\tat java.base/java.lang.Thread.run(Thread.java:1583)',
  ].join('\n')

/** A topic X and its DLQ topic X.dlq.v1: only to the topic of its name it may send without being asked about. */
export async function createConsoleTopics(topics: TestTopics, name: string): Promise<ConsoleTopics> {
  const original = topics.topicName(`browser-${name}`)
  const dlq = topics.claimTopic(`${original}.dlq.v1`)
  await createTopics(
    topics.admin,
    [original, dlq].map((topic) => ({ topic, numPartitions: 1 })),
  )
  return { original, dlq, consumerGroup: topics.groupName(`browser-${name}-readers`) }
}

/** An error of a class of its own, so that no other test has its error group. */
export function failureNamed(name: string, message: string): Error {
  const error = Object.assign(new Error(message), { name: `com.example.${name}` })
  error.stack = trace(error)
  return error
}

/** Writes the letters as Spring would, and resolves to their ids, in their order, once they are stored. */
export async function sendLetters(
  { kafka }: TestTopics,
  { sql }: TestConsole,
  { original, dlq, consumerGroup }: ConsoleTopics,
  letters: readonly Letter[],
): Promise<string[]> {
  const [{ stored }] = await sql<[{ stored: number }]>`
    select count(*)::int as stored from dlq.dlq_messages where dlq_topic = ${dlq}`
  // Each a millisecond after the one before it, so that their order is the same everywhere.
  const begin = Date.now() - letters.length
  const messages = letters.map(({ value, key, headers = [], error, original: place, ...letter }, n) => {
    const at = letter.at ?? begin + n
    // Offsets that no retry reaches.
    const { offset, at: failedAt } = place ?? { offset: 1_000_000_000n + BigInt(stored + n), at }
    const failed = springDeadLetter({
      ...{ topic: original, group: consumerGroup, partition: 0, headers },
      ...{ offset, timestamp: BigInt(failedAt) },
      key: key === null ? null : Buffer.from(key ?? `key-${n}`),
      value: value === null ? null : Buffer.from(value),
      error: error ?? failureNamed('Failure', 'the order cannot be read'),
    })
    return { ...failed, timestamp: String(at) }
  })
  await write(kafka, dlq, messages)
  return eventually(async () => {
    const rows = await sql<{ id: string }[]>`
      select id from dlq.dlq_messages where dlq_topic = ${dlq} order by dlq_partition, dlq_offset offset ${stored}`
    if (rows.length < letters.length) throw new Error(`${rows.length} of ${letters.length} are stored`)
    return rows.map(({ id }) => id)
  })
}

/** The record that was sent again fails again, as its consumer would write it. */
export async function failAgain(
  { kafka }: TestTopics,
  { original, dlq, consumerGroup }: ConsoleTopics,
  { partition, offset, timestamp, key, value, headerPairs }: TopicRecord,
  error: Error,
): Promise<void> {
  const again = springDeadLetter({
    ...{ topic: original, group: consumerGroup, partition, key, value, error },
    ...{ offset: BigInt(offset), timestamp: BigInt(timestamp), headers: headerPairs as Header[] },
  })
  await write(kafka, dlq, [again])
}

async function write(kafka: Kafka, topic: string, messages: Message[]): Promise<void> {
  const producer = kafka.producer({ allowAutoTopicCreation: false })
  await producer.connect()
  try {
    await producer.send({ topic, messages })
  } finally {
    await producer.disconnect()
  }
}
