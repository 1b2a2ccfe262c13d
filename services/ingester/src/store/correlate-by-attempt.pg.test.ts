// Re-failures that come while their attempt is under way, so that nothing says yet where its record stands.

import { deriveAttemptId, deriveMessageId } from 'dlq-core/domain/record/message-id.ts'
import { placeKey } from 'dlq-core/domain/record/record-place.ts'
import { defaultRetryPolicy, type RetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { claimDue } from 'dlq-testing/rows/claim-due.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { createRouteRegister } from '../registers/route-register.ts'
import { batchOf, recordAt, storeBatch, storeDeps } from './test-batch.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

beforeEach(() => emptyTables(database.sql, 'dlq.dlq_positions', 'dlq.dlq_messages', 'dlq.dlq_attempts'))

type Failing = {
  policy?: Partial<RetryPolicy>
  /** Done before the message is claimed. */
  prepare?: () => Promise<unknown>
  /** The consumer's framework has kept our headers. */
  isKept?: boolean
}

/** Stores a message, has it claimed, and stores a failure of the record at `topic`, which Kafka says is ours. */
async function failWhileRetrying(
  topic: string,
  { policy = {}, prepare = async () => {}, isKept = false }: Failing = {},
) {
  const first = recordAt(0)
  const id = deriveMessageId(first)
  const place = { topic, partition: 0, offset: 7n }
  const ours = { 'dlq-message-id': id, 'dlq-attempt': '1' }
  const headers = Object.entries(ours).map(([name, value]) => [name, Buffer.from(value)] as const)
  const original = { key: null, value: null, headers, timestamp: 0n }
  const { settings } = storeDeps(service.sql)
  const deps = storeDeps(service.sql, {
    settings: { ...settings, policyOf: () => ({ ...defaultRetryPolicy, ...policy }) },
    routes: createRouteRegister(service.sql, { mappings: [], mode: 'trust', now: Date.now }),
    fetchOriginals: async (places) =>
      new Map(places.filter((one) => placeKey(one) === placeKey(place)).map((one) => [placeKey(one), original])),
  })
  await storeBatch(deps, batchOf([first]))
  await database.sql`update dlq.dlq_messages set next_retry_at = now()`
  await prepare()
  expect((await claimDue(service.sql)).messages).toHaveLength(1)
  const where = { 'dlq-original-topic': topic, 'dlq-original-partition': '0', 'dlq-original-offset': '7' }
  return storeBatch(deps, batchOf([recordAt(1, { headers: isKept ? { ...where, ...ours } : where })]))
}

/** The message is sent where a run says. */
async function redirect(): Promise<void> {
  const [run] = await database.sql<[{ id: string }]>`
    insert into dlq.dlq_runs (kind, status, actor, selection, cutoff, until_id, matched, matched_relation, target_topic)
    values ('redirect', 'running', 'ann', '{"filter":{}}', now(), gen_random_uuid(), 1, 'eq', '{topic}.by-hand')
    returning id`
  await database.sql`update dlq.dlq_messages set run_id = ${run.id}`
}

describe.each([{ isKept: false }, { isKept: true }])(
  'a failure of what is being retried, our headers: $isKept',
  (of) => {
    const reopened = { stored: 0, reopened: 1 }

    test('reopens its message where that was sent to its original topic', async () => {
      expect(await failWhileRetrying('orders.events.v1', of)).toMatchObject(reopened)
    })

    test.each(['orders.again', '{topic}.again'])(
      'reopens it where its policy sends it to %s',
      async (redirectTopic) => {
        const topic = redirectTopic.replace('{topic}', 'orders.events.v1')
        expect(await failWhileRetrying(topic, { ...of, policy: { redirectTopic } })).toMatchObject(reopened)
      },
    )

    test('reopens it where its run sends it elsewhere', async () => {
      expect(await failWhileRetrying('orders.events.v1.by-hand', { ...of, prepare: redirect })).toMatchObject(reopened)
    })
  },
)

test.each<[string, 'ours' | 'foreign' | 'gone' | 'unreachable', { stored: number; reopened: number }]>([
  ['that one', 'ours', { stored: 0, reopened: 1 }],
  ['a record of the topic that was created again', 'foreign', { stored: 1, reopened: 0 }],
  ['no record any more', 'gone', { stored: 0, reopened: 1 }],
  ['what cannot be read', 'unreachable', { stored: 0, reopened: 1 }],
])('a failure without our headers, where one of ours was published and now stands %s', async (_, now, stored) => {
  const first = recordAt(0)
  const id = deriveMessageId(first)
  const place = { topic: 'orders.events.v1', partition: 0, offset: 7n }
  const ours = Object.entries({ 'dlq-message-id': id, 'dlq-attempt': '1' })
  const original = {
    ...{ key: null, value: null, timestamp: 0n },
    headers: now === 'ours' ? ours.map(([name, value]) => [name, Buffer.from(value)] as const) : [],
  }
  const found = now === 'gone' || now === 'unreachable' ? now : original
  const deps = storeDeps(service.sql, { fetchOriginals: async () => new Map([[placeKey(place), found]]) })
  await storeBatch(deps, batchOf([first]))
  await database.sql`update dlq.dlq_messages set status = 'RESOLVED', next_retry_at = null, retry_count = 1`
  await database.sql`
    insert into dlq.dlq_attempts (message_id, number, attempt_id, outcome, target_topic, target_partition, target_offset, settled_at)
    values (${id}, 1, ${deriveAttemptId(id, 1)}, 'published', ${place.topic}, 0, 7, now())`
  const headers = { 'dlq-original-partition': '0', 'dlq-original-offset': '7' }
  expect(await storeBatch(deps, batchOf([recordAt(1, { headers })]))).toMatchObject(stored)
})
