// Dead letters at an even rate, whatever happens to the brokers: each partition has a writer of its own, so that a
// partition without a leader holds up no other.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Kafka, Message } from 'kafkajs'
import { numberedDeadLetter } from '../rows/spring-dead-letter.ts'

export type ClusterLoad = {
  /** Records that Kafka has acknowledged. */
  acknowledged(): number
  /** "partition offset" → when it was acknowledged (ms since 1970). */
  readonly times: ReadonlyMap<string, number>
  /** Ends when what is under way has been acknowledged. */
  stop(): Promise<void>
}

export type LoadOptions = {
  kafka: Kafka
  original: string
  dlq: string
  partitions: number
  perSecond: number
  /** It stops by itself after so many. */
  limit?: number
}

const sendsPerSecond = 4
/** What an outage held up would else be one batch, larger than Kafka takes. */
const mostAtOnce = 500

/** Begins at once. */
export async function startLoad({
  kafka,
  original,
  dlq,
  partitions,
  perSecond,
  limit = Infinity,
}: LoadOptions): Promise<ClusterLoad> {
  const producer = kafka.producer({ idempotent: true, allowAutoTopicCreation: false })
  await producer.connect()
  const times = new Map<string, number>()
  const startedAt = performance.now()
  let next = 0
  let isOver = false

  async function write(partition: number): Promise<void> {
    let sent = 0
    while (!isOver && next < limit) {
      const due = ((performance.now() - startedAt) / 1000) * (perSecond / partitions)
      const count = Math.min(Math.floor(due - sent), limit - next, mostAtOnce)
      if (count < 1) {
        await sleep(1000 / sendsPerSecond)
        continue
      }
      const messages = Array.from({ length: count }, () => {
        const { key, value, headers } = numberedDeadLetter(next++, { topic: original, partitions, group: 'load' })
        return { key, value, headers, partition }
      })
      sent += count
      await sendUntilTaken(messages)
      await sleep(1000 / sendsPerSecond)
    }
  }

  /** A send whose outcome nobody knows may leave a second copy: to us that is another dead letter. */
  async function sendUntilTaken(messages: Message[]): Promise<void> {
    for (;;) {
      try {
        const results = await producer.send({ topic: dlq, acks: -1, messages })
        const now = Date.now()
        for (const { partition, baseOffset } of results) {
          if (baseOffset === undefined || baseOffset === '-1') continue
          messages.forEach((_, i) => {
            times.set(`${partition} ${BigInt(baseOffset) + BigInt(i)}`, now)
          })
        }
        return
      } catch {
        await sleep(500)
      }
    }
  }

  const writing = Promise.all(Array.from({ length: partitions }, (_, partition) => write(partition)))
  return {
    acknowledged: () => times.size,
    times,
    async stop() {
      isOver = true
      await writing
      await producer.disconnect()
    },
  }
}
