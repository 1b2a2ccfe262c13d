// Writes records to their topics with an idempotent producer, and tells for each one what became of
// it. One record that Kafka refuses never takes others with it: its batch is halved until it stands alone.

import type { Header } from 'dlq-core/record.ts'
import { DlqError } from 'dlq-core/runtime/errors.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import kafkajs, { type Admin, type Kafka, type Producer } from 'kafkajs'
import { readKafkaFault } from './kafka-fault.ts'
import { createTargetTopics, type TargetTopic } from './target-topics.ts'

export type Outgoing = {
  id: string
  topic: string
  /** The partition to keep, where it still exists; null: by key. */
  partition: number | null
  key: Buffer | null
  value: Buffer | null
  headers: readonly Header[]
}

export type PublishOutcome =
  | { id: string; kind: 'published'; partition: number; offset: bigint | null }
  /** `permanent`: the next attempt would be refused too. */
  | { id: string; kind: 'refused'; permanent: boolean; reason: string }
  /** Kafka is away, or did not answer. */
  | { id: string; kind: 'unsent'; error: Error }

export type Publisher = {
  /** Resolves when Kafka can be written to, as far as is known. @throws {DlqError} KAFKA_UNAVAILABLE */
  ready(): Promise<void>
  /** One outcome per record, in any order. Never throws for Kafka's sake. */
  publish(records: readonly Outgoing[]): Promise<PublishOutcome[]>
  close(): Promise<void>
}

/** One send becomes one Kafka batch per partition, and brokers refuse batches over about 1 MB. */
const maxSendBytes = 900_000
const maxSendRecords = 500

export function createPublisher({ kafka, admin, log }: { kafka: Kafka; admin: Admin; log: Log }): Publisher {
  const targets = createTargetTopics(admin)
  let producer: Producer | null = null

  async function connect(): Promise<Producer> {
    if (producer) return producer
    const fresh = kafka.producer({ idempotent: true, maxInFlightRequests: 1, allowAutoTopicCreation: false })
    try {
      await fresh.connect()
    } catch (error) {
      await fresh.disconnect().catch(() => {})
      throw error
    }
    producer = fresh
    return fresh
  }

  /** A producer that met a fault may keep failing (a deleted topic stays in its metadata), so it is replaced. */
  async function discard(): Promise<void> {
    const old = producer
    producer = null
    await old?.disconnect().catch((error) => log.debug({ error }, 'producer_disconnect_failed'))
  }

  async function send(target: TargetTopic, records: readonly Outgoing[]): Promise<PublishOutcome[]> {
    const placed = records.map((record) => ({ record, partition: target.partitionFor(record) }))
    try {
      const results = await (await connect()).send({
        topic: target.topic,
        acks: -1,
        messages: placed.map(({ record: { key, value, headers }, partition }) => ({ key, value, headers: [...headers], partition })),
      })
      return toPublished(placed, results)
    } catch (error) {
      const fault = readKafkaFault(error as Error)
      await discard()
      targets.forget(target.topic)
      if (fault.refusal === null) return records.map(({ id }) => ({ id, kind: 'unsent', error: fault.error }))
      if (records.length === 1) return [{ id: records[0]!.id, kind: 'refused', permanent: true, reason: `${target.topic}: ${fault.refusal}` }]
      const middle = records.length >> 1
      return [...(await send(target, records.slice(0, middle))), ...(await send(target, records.slice(middle)))]
    }
  }

  return {
    async ready() {
      if (producer) return
      try {
        await connect()
      } catch (error) {
        throw new DlqError('KAFKA_UNAVAILABLE', `cannot connect to Kafka: ${(error as Error).message}`, { cause: error })
      }
    },
    async publish(records) {
      const outcomes: PublishOutcome[] = []
      for (const [topic, ofTopic] of Map.groupBy(records, ({ topic }) => topic)) {
        const target = await targets.find(topic).catch((error: Error) => error)
        if (target instanceof Error) {
          // Kafka is away, even if the producer has not met it yet: ready() must ask before the next claim.
          await discard()
          outcomes.push(...ofTopic.map(({ id }) => ({ id, kind: 'unsent' as const, error: target })))
        } else if (target === null) {
          const reason = `the topic ${topic} does not exist; create it, or set another target`
          outcomes.push(...ofTopic.map(({ id }) => ({ id, kind: 'refused' as const, permanent: true, reason })))
        } else for (const chunk of chunksOf(ofTopic)) outcomes.push(...(await send(target, chunk)))
      }
      return outcomes
    },
    close: discard,
  }
}

type Placed = { record: Outgoing; partition: number }

/** kafkajs answers with each partition's base offset; the records of one send follow it in their order. */
function toPublished(placed: readonly Placed[], results: readonly kafkajs.RecordMetadata[]): PublishOutcome[] {
  const next = new Map(results.map(({ partition, baseOffset }) => [partition, baseOffset === undefined || baseOffset === '-1' ? null : BigInt(baseOffset)]))
  return placed.map(({ record: { id }, partition }) => {
    const offset = next.get(partition)
    if (offset === undefined) return { id, kind: 'unsent', error: new Error(`Kafka gave no answer for partition ${partition}`) }
    if (offset !== null) next.set(partition, offset + 1n)
    return { id, kind: 'published', partition, offset }
  })
}

function* chunksOf(records: readonly Outgoing[]): Generator<Outgoing[]> {
  let chunk: Outgoing[] = []
  let bytes = 0
  for (const record of records) {
    const size = sizeOf(record)
    if (chunk.length > 0 && (bytes + size > maxSendBytes || chunk.length === maxSendRecords)) {
      yield chunk
      chunk = []
      bytes = 0
    }
    chunk.push(record)
    bytes += size
  }
  if (chunk.length > 0) yield chunk
}

function sizeOf({ key, value, headers }: Outgoing): number {
  let bytes = 70 + (key?.length ?? 0) + (value?.length ?? 0)
  for (const [name, value] of headers) bytes += name.length + (value?.length ?? 0) + 4
  return bytes
}
