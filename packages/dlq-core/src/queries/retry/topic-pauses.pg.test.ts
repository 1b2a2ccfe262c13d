// Pauses that somebody on call sets: what a claim leaves alone while they are in force.

import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { claimDue } from 'dlq-testing/rows/claim-due.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, expect, test } from 'vitest'
import { forgetEndedPauses, listPausedIngestion, listTopicPauses, pauseTopic, resumeTopic } from './topic-pauses.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

beforeEach(() =>
  emptyTables(database.sql, 'dlq.dlq_messages', 'dlq.dlq_topic_pauses', 'dlq.dlq_slots', 'dlq.dlq_policies'),
)

const due = (original_topic: string, dlq_topic: string | null, rest = {}) =>
  insertMessageRow(database.sql, { original_topic, dlq_topic, next_retry_at: new Date(0), ...rest })
const pause = (topic: string, until: Date | null = null) =>
  pauseTopic(service.sql, { topic, what: 'retries', by: 'maria', reason: 'down', until })
const claim = async () => (await claimDue(service.sql)).messages.map(({ id }) => id).toSorted()
const inMs = (ms: number) => new Date(Date.now() + ms)

test('a claim takes nothing of a paused original topic, and what is left of a paused DLQ topic; ingestion may be paused', async () => {
  const [a, b, c] = [await due('orders', 'a.dlq'), await due('orders', 'b.dlq'), await due('mail', 'a.dlq')]
  const d = await due('orders', null)
  await pauseTopic(service.sql, { topic: 'b.dlq', what: 'ingestion', by: 'maria', reason: 'down', until: null })
  await pause('mail')
  await pause('a.dlq')
  expect(await listPausedIngestion(service.sql)).toEqual(['b.dlq'])
  expect(await claim()).toEqual([b, d].toSorted())
  await resumeTopic(service.sql, { topic: 'a.dlq', what: 'retries' })
  expect(await claim()).toEqual([a])
  await resumeTopic(service.sql, { topic: 'mail', what: 'retries' })
  expect(await claim()).toEqual([c])
})

test('a pause ends by itself at its time, and only then is forgotten', async () => {
  await due('orders', 'a.dlq')
  await pause('orders', inMs(60_000))
  expect(await claim()).toEqual([])
  expect(await forgetEndedPauses(service.sql)).toEqual([])
  await database.sql`update dlq.dlq_topic_pauses set until = now() - interval '1 ms'`
  expect(await claim()).toHaveLength(1)
  expect(await listTopicPauses(service.sql, { scope: null })).toEqual([])
  expect(await forgetEndedPauses(service.sql)).toEqual([{ topic: 'orders', what: 'retries' }])
})

test('a pause that is set again keeps its beginning, and one whose time is over does not', async () => {
  await pause('orders')
  const [first] = await listTopicPauses(service.sql, { scope: null })
  await pause('orders', inMs(60_000))
  expect(await listTopicPauses(service.sql, { scope: null })).toEqual([{ ...first, until: expect.any(Date) }])
  await database.sql`update dlq.dlq_topic_pauses set since = '2020-01-01', until = '2020-01-02'`
  expect(await pause('orders')).toBeNull()
  const [again] = await listTopicPauses(service.sql, { scope: null })
  expect(again!.since.getTime()).toBeGreaterThanOrEqual(first!.since.getTime())
})

test('applications pull nothing of a paused topic either', async () => {
  await database.sql`insert into dlq.dlq_policies (pattern, delivery) values ('orders', 'pull')`
  await due('orders', 'a.dlq')
  const other = await due('orders', 'b.dlq')
  const pull = async () => (await database.sql`select id from dlq.claim_messages('orders')`).map(({ id }) => id)
  await pause('orders')
  expect(await pull()).toEqual([])
  await resumeTopic(service.sql, { topic: 'orders', what: 'retries' })
  await pause('a.dlq')
  expect(await pull()).toEqual([other])
})
