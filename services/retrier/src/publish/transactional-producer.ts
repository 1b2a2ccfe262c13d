// Publishes each part in one Kafka transaction: its records, and its number as the slot's offset in the ledger.
// After any fault the producer is replaced. Where the broker accepted a request for some partitions and refused it
// for others, kafkajs has wrong sequence numbers: the broker would take the next records for duplicates and drop them.

import type { Sent } from 'dlq-core/queries/retry/slots.ts'
import { DlqError } from 'dlq-core/runtime/errors.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import type { Kafka, KafkaJSError, Message, RecordMetadata, Transaction } from 'kafkajs'
import { ensureLedger, ledgerGroup, ledgerOffsets, readLedger } from '../slot/ledger.ts'
import { createFencedProducer, type FencedProducer } from './fenced-producer.ts'
import { blameClock, type KafkaFault, kafkaAdvice, readKafkaFault } from './kafka-fault.ts'
import { chunksOf, type Outgoing } from './outgoing.ts'
import {
  CommitUnknownError,
  type NoteUnanswered,
  type Part,
  type PublishResult,
  type SlotProducer,
  type SlotProducerDeps,
} from './slot-producer.ts'

export type TransactionalProducerOptions = SlotProducerDeps & {
  kafka: Kafka
  log: Log
  slot: number
  /** Begins the transactional ids and the ledger's groups. */
  prefix: string
  ledgerTopic: string
  transactionTimeoutMs: number
  noteUnanswered: NoteUnanswered
}

type Entry = { batchNumber: bigint; token: string }

type Context = TransactionalProducerOptions & {
  producer: FencedProducer
  /** Writes the number of a batch, or of a part, into the ledger, as part of the transaction. */
  writeLedger: (transaction: Transaction, entry: Entry) => Promise<void>
}

export function createTransactionalProducer(options: TransactionalProducerOptions): SlotProducer {
  const { kafka, log, slot, prefix, ledgerTopic: topic, transactionTimeoutMs } = options
  const groupId = ledgerGroup(prefix, slot)
  const producer = createFencedProducer({ kafka, log, transactionTimeoutMs, transactionalId: `${prefix}-${slot}` })
  const writeLedger = (transaction: Transaction, entry: Entry) =>
    transaction.sendOffsets({ consumerGroupId: groupId, topics: ledgerOffsets(topic, entry) })
  const context: Context = { ...options, producer, writeLedger }

  /** Does the work in bounded time. A fault discards the producer, and says what the administrator can do. */
  async function withAdvice<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await producer.bounded(work())
    } catch (error) {
      await producer.discard()
      throw explain(error as Error, options)
    }
  }

  return {
    connect: () =>
      withAdvice(async () => {
        await withAdmin(kafka, (admin) => ensureLedger(admin, topic))
        await producer.fence()
        return readLedger(kafka, { topic, groupId })
      }),
    begin: (entry) =>
      withAdvice(async () => {
        const transaction = await producer.transaction()
        await writeLedger(transaction, entry)
        await transaction.commit()
      }),
    async publish(part) {
      const { sent, failure } = await sendAll(context, part)
      if (failure === null) return { ...nothing, published: sent }
      await producer.discard()
      if (failure.kind === 'commit-unknown') throw new CommitUnknownError(part, failure.error)
      return splitPart(part, failure)
    },
    close: producer.discard,
  }
}

type Transacted = { sent: Sent[]; failure: Failure | null }

/** Sends everything at once. Where Kafka refuses that, it sends again topic by topic, to see which one is refused. */
async function sendAll(context: Context, part: Part): Promise<Transacted> {
  const byTopic = [...Map.groupBy(part.records, ({ topic }) => topic).values()].map((records) => [...chunksOf(records)])
  const rounds = Math.max(...byTopic.map((chunks) => chunks.length))
  const together = Array.from({ length: rounds }, (_, round) => byTopic.flatMap((chunks) => chunks[round] ?? []))
  const first = await transact(context, part, together)
  if (first.failure?.kind !== 'refused' || topicsOf(first.failure.records).length === 1) return first
  // The same number: the first transaction was aborted.
  return transact(context, part, byTopic.flat())
}

async function transact(
  { producer, writeLedger, passFaultPoint, noteUnanswered, ...options }: Context,
  part: Part,
  pieces: readonly (readonly Outgoing[])[],
): Promise<Transacted> {
  const sent: Sent[] = []
  const since = performance.now()
  const unavailable = (error: unknown): Transacted => {
    const isLate = performance.now() - since >= options.transactionTimeoutMs
    const reason = isLate ? tookTooLong(error as Error, options) : explain(error as Error, options)
    return { sent, failure: { kind: 'unavailable', error: reason } }
  }
  let transaction: Transaction
  try {
    transaction = await producer.bounded(producer.transaction())
  } catch (error) {
    return unavailable(error)
  }
  for (const piece of pieces) {
    try {
      sent.push(...(await producer.bounded(send(transaction, piece))))
    } catch (error) {
      const refusal = toRefusal(piece, error as Error, options)
      if (refusal === null) return unavailable(error)
      await producer.abort(transaction)
      return { sent, failure: refusal }
    }
  }
  try {
    await producer.bounded(writeLedger(transaction, part))
  } catch (error) {
    return unavailable(error)
  }
  passFaultPoint('between-send-and-commit')
  try {
    await answerOf(producer.bounded(transaction.commit()), () => noteUnanswered(part, sent))
  } catch (error) {
    return { sent, failure: { kind: 'commit-unknown', error: error as Error } }
  }
  passFaultPoint('between-commit-and-settle')
  return { sent, failure: null }
}

/** Long for an answer to a commit, and short for a process to die in. */
const noteAfterMs = 1000

/** Waits for the answer to a commit. Where it takes long, or does not come at all, `note` is called once. */
async function answerOf(answer: Promise<void>, note: () => Promise<void>): Promise<void> {
  let noted: Promise<void> | null = null
  const noteOnce = () => {
    noted ??= note().catch(() => {})
    return noted
  }
  const timer = setTimeout(noteOnce, noteAfterMs)
  try {
    await answer
  } catch (error) {
    await noteOnce()
    throw error
  } finally {
    clearTimeout(timer)
  }
}

const nothing: PublishResult = { published: [], refused: [], released: [], splitInto: [], refusing: [], fault: null }

type Failure =
  /** Kafka refuses these records, or one of them. */
  | { kind: 'refused'; records: readonly Outgoing[]; fault: KafkaFault }
  | { kind: 'unavailable'; error: Error }
  | { kind: 'commit-unknown'; error: Error }

/** Errors that come from the producer's state, not from the records. */
const producerFaults = new Set([
  'INVALID_PRODUCER_EPOCH',
  'INVALID_PRODUCER_ID_MAPPING',
  'INVALID_TXN_STATE',
  'OUT_OF_ORDER_SEQUENCE_NUMBER',
  'UNKNOWN_PRODUCER_ID',
  'TRANSACTION_COORDINATOR_FENCED',
  'CONCURRENT_TRANSACTIONS',
  'TRANSACTIONAL_ID_AUTHORIZATION_FAILED',
  'KAFKAJS_UNKNOWN_ERROR_CODE',
])

/** Null where it says nothing of the records. */
function toRefusal(
  records: readonly Outgoing[],
  error: Error,
  { clockAheadMs }: Pick<TransactionalProducerOptions, 'clockAheadMs'>,
): (Failure & { kind: 'refused' }) | null {
  const fault = readKafkaFault(error)
  if (fault.refusal === null && (fault.type === null || producerFaults.has(fault.type))) return null
  const suspects = suspectsOf(records, error)
  return { kind: 'refused', records: suspects, fault: blameClock(fault, suspects, clockAheadMs) }
}

/** What Kafka has taken is not what it refuses. */
function suspectsOf(records: readonly Outgoing[], error: Error): readonly Outgoing[] {
  const { acknowledged = [] } = error as KafkaJSError
  const taken = new Set(acknowledged.map(({ topicName, partition }) => `${topicName} ${partition}`))
  const suspects = records.filter(({ topic, partition }) => !taken.has(`${topic} ${partition}`))
  return suspects.length > 0 ? suspects : records
}

/** Splits a part of which nothing was published, to find the records that Kafka refuses. */
function splitPart(part: Part, failure: Failure & { kind: 'refused' | 'unavailable' }): PublishResult {
  const idsOf = (records: readonly Outgoing[]) => records.map(({ id }) => id)
  if (failure.kind === 'unavailable') {
    return { ...nothing, released: idsOf(part.records), fault: { error: failure.error, topics: null } }
  }
  const { records, fault } = failure
  const topics = topicsOf(records)
  const suspects = new Set(records)
  const others = part.records.filter((record) => !suspects.has(record))
  // What else there is of the topic may be refused too: it does not go beside other topics again.
  const [ofTopic, ofOthers] = [true, false].map((isOf) => others.filter(({ topic }) => topics.includes(topic) === isOf))
  const splitInto = [ofOthers!, ofTopic!].filter((list) => list.length > 0)
  if (fault.refusal === null && topics.length === 1) {
    return { ...nothing, released: idsOf(records), splitInto, fault: { error: fault.error, topics } }
  }
  const { refusesTopic } = fault
  if (fault.refusal !== null && (records.length === 1 || (refusesTopic && topics.length === 1))) {
    const refused = records.map(({ id, topic }) => ({ id, topic, reason: `${topic}: ${fault.refusal}`, refusesTopic }))
    return { ...nothing, refused, splitInto, refusing: topics }
  }
  const middle = records.length >> 1
  const halves = [records.slice(0, middle), records.slice(middle)]
  return { ...nothing, splitInto: [...splitInto, ...halves], refusing: fault.refusal === null ? [] : topics }
}

function topicsOf(records: readonly Outgoing[]): string[] {
  return [...new Set(records.map(({ topic }) => topic))]
}

async function send(transaction: Transaction, records: readonly Outgoing[]): Promise<Sent[]> {
  const byTopic = Map.groupBy(records, ({ topic }) => topic)
  const topicMessages = [...byTopic].map(([topic, ofTopic]) => ({ topic, messages: toMessages(ofTopic) }))
  return toSent(records, await transaction.sendBatch({ acks: -1, topicMessages }))
}

/** The records of one topic as kafkajs takes them. */
export function toMessages(records: readonly Outgoing[]): Message[] {
  // kafkajs only reads them.
  return [...records] as Message[]
}

/**
 * Where each record stands. Kafka answers with the base offset of each partition; the records of one send follow it in
 * their order.
 *
 * @throws where an answer is missing: a record that Kafka has not answered for may not count as published
 */
export function toSent(records: readonly Outgoing[], results: readonly RecordMetadata[]): Sent[] {
  const next = new Map<string, bigint | null>()
  for (const { topicName, partition, baseOffset } of results) {
    next.set(`${topicName} ${partition}`, baseOffset === undefined || baseOffset === '-1' ? null : BigInt(baseOffset))
  }
  return records.map(({ id, topic, partition }) => {
    const key = `${topic} ${partition}`
    const offset = next.get(key)
    if (offset === undefined) throw new Error(`Kafka gave no answer for partition ${partition} of ${topic}`)
    if (offset !== null) next.set(key, offset + 1n)
    return { id, topic, partition, offset }
  })
}

function explain(
  error: Error,
  { prefix, ledgerTopic }: Pick<TransactionalProducerOptions, 'prefix' | 'ledgerTopic'>,
): DlqError {
  const advice = kafkaAdvice(error, { prefix, ledgerTopic })
  if (error instanceof DlqError) return error
  if (advice !== null) return new DlqError('KAFKA_FORBIDDEN', advice, { cause: error })
  if (readKafkaFault(error).type === 'CONCURRENT_TRANSACTIONS')
    return new DlqError(
      'TRANSACTION_PENDING',
      'Kafka has not ended the last transaction of this slot; a partition that it wrote to may have no leader',
      { cause: error },
    )
  return new DlqError('KAFKA_UNAVAILABLE', `cannot publish to Kafka: ${error.message}`, { cause: error })
}

/** Kafka has ended the transaction, or will: its answer would name another producer. */
function tookTooLong(
  cause: Error,
  { transactionTimeoutMs }: Pick<TransactionalProducerOptions, 'transactionTimeoutMs'>,
) {
  return new DlqError(
    'KAFKA_UNAVAILABLE',
    `a transaction took more than the ${transactionTimeoutMs / 1000} s after which Kafka ends it: brokers answer slowly, or a quota holds this client back (kafka_throttled in the log); the next batch is smaller`,
    { cause },
  )
}

async function withAdmin<T>(kafka: Kafka, work: (admin: ReturnType<Kafka['admin']>) => Promise<T>): Promise<T> {
  const admin = kafka.admin()
  try {
    await admin.connect()
    return await work(admin)
  } finally {
    await admin.disconnect()
  }
}
