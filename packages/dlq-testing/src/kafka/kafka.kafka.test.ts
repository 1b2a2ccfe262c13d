// The shared broker serves records. A separate broker of this file is killed and started again.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Kafka } from 'kafkajs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createReaper } from '../process/reaper.ts'
import { startKafka } from './kafka.ts'
import { createTestKafka } from './test-kafka.ts'
import { useTopics } from './test-topics.ts'

const topics = useTopics()
let folder = ''
const reaper = createReaper()

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'dlq-kafka-'))
})

afterAll(async () => {
  await reaper.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Reads a topic from its beginning until `count` values have come. */
async function readValues(kafka: Kafka, { topic, groupId, count }: { topic: string; groupId: string; count: number }) {
  const consumer = kafka.consumer({ groupId })
  await consumer.connect()
  await consumer.subscribe({ topics: [topic], fromBeginning: true })
  const values: string[] = []
  await new Promise<void>((resolve, reject) => {
    consumer
      .run({
        eachMessage: async ({ message }) => {
          values.push(String(message.value))
          if (values.length === count) resolve()
        },
      })
      .catch(reject)
  })
  await consumer.disconnect()
  return values
}

test('a record that is sent can be read', async () => {
  const topic = await topics.createTopic('round-trip')
  const producer = topics.kafka.producer({ allowAutoTopicCreation: false })
  await producer.connect()
  await producer.send({ topic, messages: [{ key: 'k', value: 'hello' }] })
  await producer.disconnect()

  const groupId = topics.groupName('round-trip')
  expect(await readValues(topics.kafka, { topic, groupId, count: 1 })).toEqual(['hello'])
})

test('a broker killed by SIGKILL starts again on the same port and has kept its records', async () => {
  // As in the home of somebody with such a name.
  const dataDir = join(folder, "José's kafka")
  const first = await startKafka({ dataDir, reaper })
  const kafka = createTestKafka(first.brokers)
  const producer = kafka.producer()
  await producer.connect()
  await producer.send({ topic: 'kept', messages: [{ value: 'still here' }] })
  await producer.disconnect()

  first.child.kill('SIGKILL')
  await first.exited
  const second = await startKafka({ dataDir, reaper, port: first.port })

  expect(second.brokers).toEqual(first.brokers)
  expect(await readValues(kafka, { topic: 'kept', groupId: 'reader', count: 1 })).toEqual(['still here'])
  await second.stop()
})
