// A kafkajs producer with a transactional id. It is replaced by a new one after every fault.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from 'dlq-core/runtime/log.ts'
import kafkajs, { type Kafka, type Producer, type Transaction } from 'kafkajs'
import { withTimeout } from '../with-timeout.ts'

export type FencedProducer = {
  /** Replaces the producer. Nothing that earlier producers of this transactional id sent can still take effect. */
  fence(): Promise<void>
  /** A new transaction; the first call after `fence` returns the one that fencing began. */
  transaction(): Promise<Transaction>
  /** Bounds the work in time. If it takes longer, the caller must `fence` or `discard` afterwards. */
  bounded<T>(work: Promise<T>): Promise<T>
  discard(): Promise<void>
  /**
   * Ends a transaction in which Kafka refused something, and discards its producer. A producer that is discarded with
   * its transaction open leaves that to the next one, for which kafkajs waits 100 ms and longer each time.
   */
  abort(transaction: Transaction): Promise<void>
}

export type FencedProducerOptions = {
  kafka: Kafka
  log: Log
  transactionalId: string
  /** We and the broker abort a transaction that takes longer. */
  transactionTimeoutMs: number
  /** In ms, from any start. */
  now?: () => number
}

// A transaction cannot begin before the broker has completed the one before. kafkajs would wait 300 ms for that each
// time (measured: 6,200 records/s at 500 a batch, against 14,000 with this). All waits together take about ten seconds.
const retry = { initialRetryTime: 4, multiplier: 1.5, maxRetryTime: 200, retries: 60 }

/**
 * Kafka forgets a transactional id that nobody has used for `transactional.id.expiration.ms`, 7 days by default, and
 * refuses the transaction after a week without retries. A producer that was idle for this long is replaced before.
 */
const idleMs = 60 * 60_000

/** A broker that answers at all does so well within it. */
const closeMs = 1000

export function createFencedProducer(options: FencedProducerOptions): FencedProducer {
  const { kafka, log, transactionalId, transactionTimeoutMs, now = () => performance.now() } = options
  let producer: Producer | null = null
  let usedAt = now()
  let begun: Transaction | null = null

  async function discard(): Promise<void> {
    const old = producer
    producer = null
    begun = null
    if (old !== null) await close(old)
  }

  /** A frozen broker answers nothing, and kafkajs waits for its answers: nobody else has to. */
  async function close(old: Producer): Promise<void> {
    const closed = old
      .disconnect()
      .catch((error) => log.debug({ error, transactionalId }, 'producer_disconnect_failed'))
    await Promise.race([closed, sleep(closeMs, undefined, { ref: false })])
  }

  async function fence(): Promise<void> {
    await discard()
    const fresh = kafka.producer({
      transactionalId,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
      transactionTimeout: transactionTimeoutMs,
      retry,
    })
    producer = fresh
    try {
      await fresh.connect()
      assertCurrent(fresh)
      // kafkajs asks for the producer's epoch, which fences the former producers and ends their open
      // transaction, only when a transaction is begun; connect() alone does not.
      const transaction = await fresh.transaction()
      assertCurrent(fresh)
      begun = transaction
    } catch (error) {
      // Given up while it connected: kafkajs would go on, and fence the producer that has taken its place.
      if (producer !== fresh) await close(fresh)
      throw error
    }
  }

  function assertCurrent(fresh: Producer): void {
    if (producer !== fresh) throw new Error('the producer was given up while it connected')
  }

  return {
    fence,
    discard,
    async abort(transaction) {
      const aborted = transaction.abort().catch((error) => log.debug({ error, transactionalId }, 'abort_failed'))
      await Promise.race([aborted, sleep(closeMs, undefined, { ref: false })])
      await discard()
    },
    async transaction() {
      if (producer === null || now() - usedAt >= idleMs) await fence()
      usedAt = now()
      const transaction = begun ?? (await producer!.transaction())
      begun = null
      return transaction
    },
    async bounded(work) {
      const user = producer
      // kafkajs may reconnect an abandoned producer; close it again.
      return withTimeout(work, transactionTimeoutMs, () => {
        if (user !== producer) user?.disconnect().catch(() => {})
      })
    },
  }
}
