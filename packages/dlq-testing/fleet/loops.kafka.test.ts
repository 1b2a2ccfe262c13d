// A consumer that fails each time, and whose framework drops every header that it does not know. Its dead letters only
// have the coordinates of the record. A retry was published to these coordinates, so the loop ends.
import { deriveAttemptId } from 'dlq-core/domain/record/message-id.ts'
import type { Header } from 'dlq-core/domain/record/record.ts'
import { eventually, nothingHappensFor } from 'dlq-testing/eventually.ts'
import { useFleet } from 'dlq-testing/fleet/test-fleet.ts'
import { springDeadLetter } from 'dlq-testing/rows/spring-dead-letter.ts'
import type { Consumer } from 'kafkajs'
import { afterAll, beforeAll, expect, test } from 'vitest'

const maxRetries = 3
const group = 'stripping'
const fleet = useFleet('loops', {
  partitions: 2,
  env: { DLQ_RETRY_INITIAL_DELAY: '100ms', DLQ_RETRY_MULTIPLIER: '1', DLQ_RETRY_MAX_RETRIES: String(maxRetries) },
})

/** The records that the consumer got. */
type Delivery = {
  partition: number
  offset: bigint
  timestamp: bigint
  key: Buffer | null
  value: Buffer | null
  headers: Header[]
}

const deliveries = new Map<string, Delivery[]>()
/** The consumer's action for records of a key. It only notes other records. */
const reactions = new Map<string, (delivery: Delivery, failures: number) => Promise<void>>()
let consumer: Consumer | undefined

beforeAll(async () => {
  await fleet.services.startAll()
  consumer = fleet.topics.kafka.consumer({ groupId: fleet.topics.groupName(group), maxWaitTimeInMs: 50 })
  await consumer.connect()
  await consumer.subscribe({ topics: [fleet.original], fromBeginning: true })
  await consumer.run({
    eachMessage: async ({ partition, message: { offset, timestamp, key, value, headerPairs: headers } }) => {
      const delivery = { partition, offset: BigInt(offset), timestamp: BigInt(timestamp), key, value, headers }
      const seen = deliveriesOf(String(key))
      seen.push(delivery)
      await reactions.get(String(key))?.(delivery, seen.length)
    },
  })
})

afterAll(() => consumer?.disconnect())

function deliveriesOf(key: string): Delivery[] {
  const seen = deliveries.get(key) ?? []
  deliveries.set(key, seen)
  return seen
}

const nameOf = (error: string) => `com.example.${error}`

/** Dead-letters with nothing of the record's headers, unless `keepHeaders`. */
async function deadLetter(
  delivery: Delivery,
  { error = 'Refused', keepHeaders = false }: { error?: string; keepHeaders?: boolean } = {},
): Promise<void> {
  const failure = Object.assign(new Error(`${error} at ${delivery.offset}`), { name: nameOf(error) })
  const headers = keepHeaders ? delivery.headers : []
  const letter = springDeadLetter({ ...delivery, topic: fleet.original, headers, group, error: failure })
  await fleet.producer.send({ topic: fleet.dlq, messages: [letter] })
}

type Row = { id: string; status: string; retry_count: number; failure_count: number; successor_of: string | null }

async function rowsOf(key: string): Promise<Row[]> {
  const rows = await fleet.database.sql<Row[]>`
    select id, status, retry_count, failure_count, successor_of
      from dlq.dlq_messages
     where record_key = ${Buffer.from(key)}
     order by id`
  return [...rows]
}

async function untilRow(key: string, expected: Partial<Row>): Promise<Row> {
  return eventually(async () => {
    const rows = await rowsOf(key)
    expect(rows).toMatchObject([expected])
    return rows[0]!
  })
}

async function send(key: string): Promise<void> {
  await fleet.producer.send({ topic: fleet.original, messages: [{ key, value: `{"key":"${key}"}` }] })
}

async function untilDelivered(key: string, times: number): Promise<Delivery> {
  await eventually(() => expect(deliveriesOf(key)).toHaveLength(times), { intervalMs: 20 })
  return deliveriesOf(key)[times - 1]!
}

/** Fails once and is retried: RESOLVED: its next failure has not been read yet. */
async function retriedOnce(key: string): Promise<{ id: string; again: Delivery }> {
  reactions.set(key, async (delivery, failures) => {
    if (failures === 1) await deadLetter(delivery)
  })
  await send(key)
  const again = await untilDelivered(key, 2)
  const { id } = await untilRow(key, { status: 'RESOLVED', retry_count: 1, failure_count: 1 })
  reactions.delete(key)
  return { id, again }
}

/** The message's attempts, each with how it failed again. */
async function attemptsOf(id: string) {
  const attempts = await fleet.database.sql`
    select number, attempt_id, outcome, target_topic, target_partition, target_offset, failed_again_at is not null as failed,
           failed_again_topic, failed_again_class, failed_again_message, error_changed
      from dlq.dlq_attempts
     where message_id = ${id}
     order by number`
  return [...attempts]
}

const errorsByFailure = ['Refused', 'Refused', 'Exhausted', 'Exhausted']

/** The attempts of a message that failed with one of `errorsByFailure` after the other. */
function attemptsExpected(id: string, key: string) {
  return deliveriesOf(key)
    .slice(1)
    .map(({ partition, offset }, i) => ({
      number: i + 1,
      attempt_id: deriveAttemptId(id, i + 1),
      outcome: 'published',
      target_topic: fleet.original,
      target_partition: partition,
      target_offset: String(offset),
      failed: true,
      failed_again_topic: fleet.dlq,
      failed_again_class: nameOf(errorsByFailure[i + 1]!),
      failed_again_message: `${errorsByFailure[i + 1]} at ${offset}`,
      error_changed: errorsByFailure[i + 1] !== errorsByFailure[i],
    }))
}

const dead = { status: 'DEAD', retry_count: maxRetries, failure_count: maxRetries + 1 }

test('a message whose consumer fails each time and drops all headers ends as one DEAD row with every attempt', async () => {
  const key = 'hopeless'
  reactions.set(key, (delivery, failures) => deadLetter(delivery, { error: errorsByFailure[failures - 1]! }))
  await send(key)
  const { id } = await untilRow(key, dead)
  // Long enough for several more retries, if there were any.
  await nothingHappensFor(1000)
  expect(await rowsOf(key)).toEqual([expect.objectContaining(dead)])
  expect(deliveriesOf(key)).toHaveLength(maxRetries + 1)
  expect(await attemptsOf(id)).toEqual(attemptsExpected(id, key))
})

test('a re-failure that arrives before its attempt is settled belongs to the same row', async () => {
  const key = 'hasty'
  reactions.set(key, (delivery, failures) => deadLetter(delivery, { error: errorsByFailure[failures - 1]! }))
  const { sql } = fleet.database
  await sql.begin(async (sql) => {
    // The retrier cannot settle now, although the record is in its topic already.
    await sql`lock table dlq.dlq_attempts in share mode`
    await send(key)
    await untilDelivered(key, 2)
    await nothingHappensFor(1000)
    expect(await rowsOf(key)).toHaveLength(1)
  })
  const { id } = await untilRow(key, dead)
  expect(await attemptsOf(id)).toEqual(attemptsExpected(id, key))
})

test('a re-failure of an attempt without stored coordinates belongs to the same row', async () => {
  const key = 'recovered'
  const { id, again } = await retriedOnce(key)
  // As a retrier settles it that recovers the published batch of one that died.
  await fleet.database.sql`
    update dlq.dlq_attempts set target_partition = null, target_offset = null where message_id = ${id}`
  reactions.set(key, (delivery) => deadLetter(delivery))
  await deadLetter(again)
  expect(await untilRow(key, dead)).toMatchObject({ id })
})

test('a dead letter that arrives twice counts as one failure', async () => {
  const key = 'doubled'
  const { id, again } = await retriedOnce(key)
  await deadLetter(again)
  await deadLetter(again)
  await untilDelivered(key, 3)
  const once = { id, status: 'RESOLVED', retry_count: 2, failure_count: 2 }
  await untilRow(key, once)
  // Also when the attempt after it has been made.
  await deadLetter(again)
  await deadLetter(deliveriesOf(key)[2]!, { error: 'Exhausted' })
  await untilDelivered(key, 4)
  await untilRow(key, { id, status: 'RESOLVED', retry_count: 3, failure_count: 3 })
})

test('an archived message that fails again is restored from the archive', async () => {
  const key = 'archived'
  const { id, again } = await retriedOnce(key)
  const { sql } = fleet.database
  await sql`call dlq.archive_old_dlq_messages(0)`
  expect(await rowsOf(key)).toEqual([])
  expect(await sql`select id from dlq.dlq_messages_archive where id = ${id}`).toHaveLength(1)

  await deadLetter(again)
  await untilRow(key, { id, status: 'RESOLVED', retry_count: 2, failure_count: 2 })
  expect(await sql`select id from dlq.dlq_messages_archive where id = ${id}`).toHaveLength(0)
})

test('a deleted message that fails again is a new row that names its predecessor', async () => {
  const key = 'deleted'
  const { id, again } = await retriedOnce(key)
  const answer = await fleet.services.request(`/api/v1/dlq/messages/${id}`, { method: 'DELETE' })
  expect(answer.status).toBeLessThan(300)
  expect(await rowsOf(key)).toEqual([])

  await deadLetter(again, { keepHeaders: true })
  const successor = await untilRow(key, { successor_of: id, failure_count: 1 })
  expect(successor.id).not.toBe(id)
})
