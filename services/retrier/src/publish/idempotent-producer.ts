// Publishes without transactions, for clusters that forbid them: at least once. Messages are sent again, under the same
// attempt id, where nobody knows whether they were: after the death of a retrier, or where Kafka does not answer.

import { DlqError } from 'dlq-core/runtime/errors.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import kafkajs, { type Kafka, type KafkaJSError, type Producer } from 'kafkajs'
import { blameClock, type KafkaFault, readKafkaFault } from './kafka-fault.ts'
import { chunksOf, type Outgoing } from './outgoing.ts'
import type { PublishResult, SlotProducer, SlotProducerDeps } from './slot-producer.ts'
import { toMessages, toSent } from './transactional-producer.ts'

/**
 * While it tries again, Kafka knows the records by their sequence and takes none twice. So it tries for longer than Kafka
 * needs to give a dead broker's partitions to another (9 s by default); all waits together take about half a minute.
 */
const retry = { initialRetryTime: 50, maxRetryTime: 1000, retries: 35 }

export type IdempotentProducerOptions = SlotProducerDeps & { kafka: Kafka; log: Log }

function isHopeless({ fault }: PublishResult, topic: string): boolean {
  return fault !== null && (fault.topics === null || fault.topics.includes(topic))
}

export function createIdempotentProducer({
  kafka,
  log,
  passFaultPoint,
  clockAheadMs,
}: IdempotentProducerOptions): SlotProducer {
  let producer: Producer | null = null

  async function connected(): Promise<Producer> {
    if (producer) return producer
    const fresh = kafka.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
      retry,
    })
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

  /** Halves a refused send until each refused record stands alone. What Kafka has acknowledged is final. */
  async function send(records: readonly Outgoing[], result: PublishResult): Promise<void> {
    try {
      const { topic } = records[0]!
      const results = await (await connected()).send({ topic, acks: -1, messages: toMessages(records) })
      result.published.push(...toSent(records, results))
    } catch (error) {
      const { acknowledged = [] } = error as KafkaJSError
      const partitions = new Set(acknowledged.map(({ partition }) => partition))
      const sent = records.filter(({ partition }) => partitions.has(partition))
      result.published.push(...toSent(sent, acknowledged))
      await discard()
      const rest = records.filter(({ partition }) => !partitions.has(partition))
      if (rest.length > 0) afterFault(rest, blameClock(readKafkaFault(error as Error), rest, clockAheadMs), result)
    }
  }

  function afterFault(records: readonly Outgoing[], fault: KafkaFault, result: PublishResult): void {
    const { topic } = records[0]!
    if (fault.refusal === null) {
      result.released.push(...records.map(({ id }) => id))
      const topics = fault.type === null ? null : [...(result.fault?.topics ?? []), topic]
      result.fault = { error: fault.error, topics }
      return
    }
    const { refusal, refusesTopic } = fault
    result.refusing = [...new Set([...result.refusing, topic])]
    if (records.length === 1 || refusesTopic) {
      result.refused.push(...records.map(({ id }) => ({ id, topic, reason: `${topic}: ${refusal}`, refusesTopic })))
    } else {
      const middle = records.length >> 1
      result.splitInto.push(records.slice(0, middle), records.slice(middle))
    }
  }

  return {
    async connect() {
      try {
        await discard()
        await connected()
        return null
      } catch (error) {
        throw new DlqError('KAFKA_UNAVAILABLE', `cannot connect to Kafka: ${(error as Error).message}`, {
          cause: error,
        })
      }
    },
    async begin() {},
    async publish({ records }) {
      const lists = { published: [], refused: [], released: [], splitInto: [], refusing: [] }
      const result: PublishResult = { ...lists, fault: null }
      const byTopic = Map.groupBy(records, ({ topic }) => topic)
      for (const ofTopic of byTopic.values()) {
        for (const chunk of chunksOf(ofTopic)) {
          // Kafka, or this topic, is unavailable: the rest would only wait for its own timeouts.
          if (isHopeless(result, chunk[0]!.topic)) result.released.push(...chunk.map(({ id }) => id))
          else await send(chunk, result)
        }
      }
      passFaultPoint('between-commit-and-settle')
      return result
    },
    close: discard,
  }
}
