// A cluster whose ACLs forbid a topic, or an operation that exactly-once needs. On a separate broker.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from 'dlq-testing/eventually.ts'
import { createTopicsNamed } from 'dlq-testing/kafka/create-topics.ts'
import { startKafka } from 'dlq-testing/kafka/kafka.ts'
import { createTestKafka } from 'dlq-testing/kafka/test-kafka.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { createReaper } from 'dlq-testing/process/reaper.ts'
import { insertDueRows } from 'dlq-testing/rows/due-rows.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import kafkajs, { type Admin, type Kafka } from 'kafkajs'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createSlotWorker } from '../slot/run-slot.ts'
import { retryAll, type TestRetrierOptions, testSlotDeps } from '../test-retrier.ts'
import { createIdempotentProducer } from './idempotent-producer.ts'

const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } = kafkajs
const database = useDatabase()
const service = useServiceDatabase(database)
const reaper = createReaper()
const folder = mkdtempSync(join(tmpdir(), 'dlq-forbidden-'))
let kafka: Kafka
let admin: Admin

beforeAll(async () => {
  const settings = {
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    'allow.everyone.if.no.acl.found': 'true',
  }
  const { brokers } = await startKafka({ dataDir: join(folder, 'kafka'), reaper, extras: { settings } })
  kafka = createTestKafka(brokers)
  // By another admin, because one that has loaded the topics could not remove an ACL that forbids it to see them.
  await createTopicsNamed(kafka, ['orders', 'payments'], 2)
  admin = kafka.admin()
  await admin.connect()
})

afterAll(async () => {
  await admin?.disconnect()
  await reaper.close()
  rmSync(folder, { recursive: true, force: true })
})

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_attempts', 'dlq.dlq_messages')
})

type Forbidden = { type: number; name: string; operation: number; pattern?: number }

/** Forbids the operation, which is otherwise allowed, until disposal. */
async function forbid({
  type,
  name,
  operation,
  pattern = ResourcePatternTypes.LITERAL,
}: Forbidden): Promise<AsyncDisposable> {
  const acl = {
    ...{ resourceType: type, resourceName: name, resourcePatternType: pattern, operation },
    ...{ principal: 'User:ANONYMOUS', host: '*', permissionType: AclPermissionTypes.DENY },
  }
  // The broker answers a moment before the ACL takes effect.
  const untilInForce = (count: number) =>
    eventually(async () => expect((await admin.describeAcls(acl)).resources).toHaveLength(count))
  await admin.createAcls({ acl: [acl] })
  await untilInForce(1)
  return {
    async [Symbol.asyncDispose]() {
      await admin.deleteAcls({ filters: [acl] })
      await untilInForce(0)
    },
  }
}

const retryWith = (options: Partial<TestRetrierOptions> = {}, more: Parameters<typeof testSlotDeps>[1] = {}) =>
  retryAll(testSlotDeps({ sql: service.sql, kafka, prefix: 'forbidden', ...options }, more))

const states = () =>
  database.sql`select original_topic, status, retry_count, count(*)::int from dlq.dlq_messages group by 1, 2, 3 order by 1`

test('messages for a topic that may not be written to are refused with the missing ACL, and the others are sent', async () => {
  await insertDueRows(database.sql, { count: 100, topics: ['orders', 'payments'], partitions: 2 })
  await using _ = await forbid({ type: AclResourceTypes.TOPIC, name: 'payments', operation: AclOperationTypes.WRITE })
  await retryWith()
  expect([...(await states())]).toEqual([
    { original_topic: 'orders', status: 'RESOLVED', retry_count: 1, count: 50 },
    { original_topic: 'payments', status: 'PENDING', retry_count: 1, count: 50 },
  ])
  const errors = await database.sql`select distinct error from dlq.dlq_attempts where outcome = 'failed'`
  expect([...errors]).toEqual([{ error: 'payments: the retrier may not write to the topic (ACL: Write on the topic)' }])
  const scheduled = await database.sql`select from dlq.dlq_messages where next_retry_at is not null`
  expect(scheduled).toHaveLength(0)
})

test('one record too large, one for a missing topic and one for a forbidden topic among 1,000 fail alone, in the same pass', async () => {
  await insertDueRows(database.sql, { count: 997, topics: ['orders'], partitions: 2 })
  const due = (original_topic: string, bytes: number) =>
    insertMessageRow(database.sql, { original_topic, record_value: Buffer.alloc(bytes), next_retry_at: new Date(0) })
  const [large, missing, forbidden] = [await due('orders', 2_000_000), await due('gone', 1), await due('payments', 1)]
  await using _ = await forbid({ type: AclResourceTypes.TOPIC, name: 'payments', operation: AclOperationTypes.WRITE })
  // Large enough that each topic's share holds all of it.
  const deps = testSlotDeps({ sql: service.sql, kafka, prefix: 'forbidden', batchSize: 3000 })
  const worker = createSlotWorker(deps)
  try {
    expect(await worker.pass()).toMatchObject({ published: 997, refused: 3, released: 0 })
  } finally {
    await worker.close()
    await deps.targets.close()
  }
  const errors = await database.sql<{ message_id: string; error: string }[]>`
    select message_id, error from dlq.dlq_attempts where outcome = 'failed'`
  expect(new Map(errors.map(({ message_id, error }) => [message_id, error]))).toEqual(
    new Map([
      [large, 'orders: the record is larger than the topic allows (max.message.bytes)'],
      [missing, 'the topic gone does not exist; create it, or set redirect_topic in its policy'],
      [forbidden, 'payments: the retrier may not write to the topic (ACL: Write on the topic)'],
    ]),
  )
  const others =
    await database.sql`select status, retry_count, count(*)::int from dlq.dlq_messages group by 1, 2 order by 1`
  expect([...others]).toEqual([
    { status: 'PENDING', retry_count: 1, count: 3 },
    { status: 'RESOLVED', retry_count: 1, count: 997 },
  ])
})

const { TRANSACTIONAL_ID, GROUP, TOPIC } = AclResourceTypes
const prefixed = ResourcePatternTypes.PREFIXED

test.each<[what: string, forbidden: Forbidden, advice: string]>([
  [
    'transactional ids',
    { type: TRANSACTIONAL_ID, name: 'forbidden-', operation: AclOperationTypes.WRITE, pattern: prefixed },
    'allow Describe and Write on TransactionalId forbidden- (prefixed)',
  ],
  [
    'the ledger’s groups',
    { type: GROUP, name: 'forbidden-ledger-', operation: AclOperationTypes.READ, pattern: prefixed },
    'Read on Group forbidden-ledger- (prefixed)',
  ],
  [
    'the ledger',
    { type: TOPIC, name: 'dlq-manager.ledger', operation: AclOperationTypes.READ },
    'allow Read and Describe on Topic dlq-manager.ledger',
  ],
])(
  'where the cluster forbids %s, the error says what to allow, and no attempt is spent',
  async (_what, forbidden, advice) => {
    await insertDueRows(database.sql, { count: 10, topics: ['orders'] })
    await using _ = await forbid(forbidden)
    await expect(retryWith()).rejects.toMatchObject({
      code: 'KAFKA_FORBIDDEN',
      message: expect.stringContaining(advice),
    })
    expect([...(await states())]).toEqual([{ original_topic: 'orders', status: 'PENDING', retry_count: 0, count: 10 }])
  },
)

test('where the cluster forbids transactional ids, at-least-once delivers', async () => {
  await insertDueRows(database.sql, { count: 10, topics: ['orders'] })
  const name = 'forbidden-'
  await using _ = await forbid({ type: TRANSACTIONAL_ID, name, operation: AclOperationTypes.WRITE, pattern: prefixed })
  const { log } = testSlotDeps({ sql: service.sql, kafka, prefix: 'forbidden' })
  await retryWith({}, { createProducer: () => createIdempotentProducer({ kafka, log, passFaultPoint: () => {} }) })
  expect([...(await states())]).toEqual([{ original_topic: 'orders', status: 'RESOLVED', retry_count: 1, count: 10 }])
})
