// Sends the day before to the DLQ topics of the demo.

import { springDeadLetter } from 'dlq-testing/rows/spring-dead-letter.ts'
import type { Producer } from 'kafkajs'
import { partitionCount } from './failures.ts'
import { makePast } from './past.ts'

const pastBatch = 250

/** The records' own times are those of the past: a dead letter's id, and so the trend, follows from them. */
export async function sendPast(producer: Producer, now: number): Promise<void> {
  const messages = makePast(now).map(({ at, id, value, failure: { topic, group, error } }, n) => ({
    topic: `${topic}.dlq.v1`,
    message: {
      timestamp: String(at),
      ...springDeadLetter({
        ...{ topic, group, headers: [], error: error(id), key: Buffer.from(id), value: Buffer.from(value) },
        // Offsets that the topics never reach: a retry may not be taken for one of these.
        ...{ partition: n % partitionCount, offset: 1_000_000_000n + BigInt(n), timestamp: BigInt(at) },
      }),
    },
  }))
  for (let from = 0; from < messages.length; from += pastBatch) {
    const batch = Map.groupBy(messages.slice(from, from + pastBatch), ({ topic }) => topic)
    const topicMessages = [...batch].map(([topic, of]) => ({ topic, messages: of.map(({ message }) => message) }))
    await producer.sendBatch({ topicMessages })
  }
}
