// Publishing without transactions, for clusters that forbid them: at least once. What a dead retrier
// held may have been sent or not; it is sent again under the same attempt id.

import { DlqError } from 'dlq-core/runtime/errors.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import kafkajs, { type Kafka, type Producer } from 'kafkajs'
import { readKafkaFault } from './kafka-fault.ts'
import { chunksOf, type Outgoing } from './outgoing.ts'
import type { PublishResult, SlotProducer, SlotProducerDeps } from './slot-producer.ts'
import { toMessages, toSent } from './transactional-producer.ts'

export type IdempotentProducerOptions = SlotProducerDeps & { kafka: Kafka; log: Log }

export function createIdempotentProducer({ kafka, log, passFaultPoint }: IdempotentProducerOptions): SlotProducer {
  let producer: Producer | null = null

  async function connected(): Promise<Producer> {
    if (producer) return producer
    const fresh = kafka.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
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

  /** Halves what is refused until each refused record stands alone: here every send is final by itself. */
  async function send(records: readonly Outgoing[], result: PublishResult): Promise<void> {
    try {
      const { topic } = records[0]!
      const results = await (await connected()).send({ topic, acks: -1, messages: toMessages(records) })
      result.published.push(...toSent(records, results))
    } catch (error) {
      const fault = readKafkaFault(error as Error)
      await discard()
      const { topic } = records[0]!
      if (fault.refusal === null) {
        result.released.push(...records.map(({ id }) => id))
        result.fault ??= { error: fault.error, topics: fault.type === null ? null : [topic] }
      } else if (records.length === 1 || fault.isOfTopic) {
        result.refused.push(...records.map(({ id }) => ({ id, topic, reason: `${topic}: ${fault.refusal}` })))
      } else {
        const middle = records.length >> 1
        await send(records.slice(0, middle), result)
        await send(records.slice(middle), result)
      }
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
      const result: PublishResult = { published: [], refused: [], released: [], again: [], fault: null }
      const byTopic = Map.groupBy(records, ({ topic }) => topic)
      for (const ofTopic of byTopic.values()) {
        for (const chunk of chunksOf(ofTopic)) {
          // Kafka is away: the rest would only wait for its own timeouts.
          if (result.fault?.topics === null) result.released.push(...chunk.map(({ id }) => id))
          else await send(chunk, result)
        }
      }
      passFaultPoint('between-commit-and-settle')
      return result
    },
    close: discard,
  }
}
