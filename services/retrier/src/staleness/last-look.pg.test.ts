// A topic that cannot be read for the last look, beside topics that need none.

import { defaultRetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import kafkajs from 'kafkajs'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { createSlotWorker } from '../slot/run-slot.ts'
import { pretendingSlotDeps } from '../test-retrier.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

beforeEach(() =>
  emptyTables(database.sql, 'dlq.dlq_staleness', 'dlq.dlq_staleness_cursors', 'dlq.dlq_messages', 'dlq.dlq_runs'),
)

const due = (topic: string) =>
  insertMessageRow(database.sql, {
    ...{ original_topic: topic, original_partition: 0, original_offset: 0, next_retry_at: new Date(0) },
    ...{ record_key: Buffer.from('k'), record_value: Buffer.from('v'), record_headers: database.sql.json([]) },
  })

/** A slot whose policy holds messages of `orders`. */
function slotOf(read: () => Promise<never>) {
  const deps = pretendingSlotDeps(service.sql, {
    reader: { fetchRecords: read, fetchLogBounds: read },
    policyOf: ({ original_topic }) => ({
      ...defaultRetryPolicy,
      staleness: original_topic === 'orders' ? 'hold' : 'ignore',
    }),
  })
  const worker = createSlotWorker(deps)
  onTestFinished(worker.close)
  return { deps, worker }
}

test('a topic that cannot be read for the last look waits alone: the others of its batch are sent', async () => {
  const [guarded, other] = [await due('orders'), await due('payments')]
  await database.sql`
    insert into dlq.dlq_staleness_cursors (original_topic, partition, position, topic_partitions, looked_at)
    values ('orders', 0, 1, 1, now())`
  await database.sql`
    insert into dlq.dlq_staleness (message_id, original_topic, partition, original_offset, answer, answered_at)
    values (${guarded}, 'orders', 0, 0, 'fresh', now())`
  const error = new kafkajs.KafkaJSNumberOfRetriesExceeded(new Error('There is no leader for this topic-partition'), {
    retryCount: 5,
    retryTime: 1000,
  })
  const { deps, worker } = slotOf(async () => {
    throw error
  })
  await worker.pass()
  expect(await readMessageRow(database.sql, other)).toMatchObject({ status: 'RESOLVED' })
  const waiting = await readMessageRow(database.sql, guarded)
  expect(waiting).toMatchObject({ status: 'PENDING', retry_count: 0 })
  expect(waiting.next_retry_at.getTime()).toBeGreaterThan(Date.now())
  expect(deps.breaker.fault()).toBeNull()
})

test('a run whose messages wait for a look does not claim them again at once, over and over', async () => {
  const id = await due('orders')
  const [run] = await database.sql`
    insert into dlq.dlq_runs (kind, status, actor, selection, cutoff, until_id, matched, matched_relation, on_refailure, max_refailure, taken)
    values ('retry', 'running', 'ann', '{"filter":{}}', now(), ${id}, 1, 'eq', 'continue', 0.5, 1)
    returning id`
  await database.sql`update dlq.dlq_messages set run_id = ${run!.id} where id = ${id}`
  const { worker } = slotOf(() => Promise.reject(new Error('nothing is read')))
  expect(await worker.pass()).toMatchObject({ more: false, released: 1 })
  expect(await readMessageRow(database.sql, id)).toMatchObject({ status: 'PENDING', retry_count: 0, run_id: run!.id })
})
