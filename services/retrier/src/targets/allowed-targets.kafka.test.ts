// kafka.allowed_targets in the retrier: the last look before anything is sent, whoever asked for it.

import { createTopics } from 'dlq-testing/kafka/create-topics.ts'
import { readTopic } from 'dlq-testing/kafka/read-topic.ts'
import { useTopics } from 'dlq-testing/kafka/test-topics.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { expect, onTestFinished, test } from 'vitest'
import { createSlotWorker } from '../slot/run-slot.ts'
import { testSlotDeps } from '../test-retrier.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const topics = useTopics()

test('a message for a topic outside kafka.allowed_targets is refused, by whichever way it got that target', async () => {
  const [allowed, other] = [await topics.createTopic('allowed'), await topics.createTopic('other')]
  const deps = testSlotDeps({
    ...{ sql: service.sql, kafka: topics.kafka, prefix: topics.groupName('retrier') },
    allowedTargets: [allowed],
    policies: { redirected: { redirectTopic: other } },
  })
  const worker = createSlotWorker(deps)
  onTestFinished(async () => {
    await worker.close()
    await deps.targets.close()
  })
  const due = { record_value: Buffer.from('x'), record_headers: database.sql.json([]), next_retry_at: new Date(0) }
  const sent = await insertMessageRow(database.sql, { ...due, original_topic: allowed })
  const refused = await Promise.all([
    insertMessageRow(database.sql, { ...due, original_topic: other, dlq_topic: `${other}.dlq.v1` }),
    insertMessageRow(database.sql, { ...due, original_topic: allowed, target_topic: other }),
    insertMessageRow(database.sql, { ...due, original_topic: 'redirected' }),
    insertMessageRow(database.sql, { ...due, original_topic: other, retry_requested: true }),
  ])
  while ((await worker.pass()).more);

  expect(await readMessageRow(database.sql, sent)).toMatchObject({ status: 'RESOLVED' })
  for (const id of refused) {
    expect(await readMessageRow(database.sql, id)).toMatchObject({ status: 'PENDING', next_retry_at: null })
    const [attempt] = await database.sql`select outcome, error from dlq.dlq_attempts where message_id = ${id}`
    expect(attempt).toMatchObject({ outcome: 'failed', error: expect.stringContaining('kafka.allowed_targets') })
  }
  expect(await readTopic(topics.kafka, { topic: other, groupId: topics.groupName('reader') })).toEqual([])
  expect(await readTopic(topics.kafka, { topic: allowed, groupId: topics.groupName('reader') })).toHaveLength(1)
})

test('a redirect that is named per message goes to each group’s topic, within kafka.allowed_targets and the run’s topics', async () => {
  const orders = await topics.createTopic('orders')
  const [mine, theirs] = [topics.claimTopic(`${orders}.billing.retry`), topics.claimTopic(`${orders}.search.retry`)]
  await createTopics(
    topics.admin,
    [mine, theirs].map((topic) => ({ topic, numPartitions: 1 })),
  )
  const deps = testSlotDeps({
    ...{ sql: service.sql, kafka: topics.kafka, prefix: topics.groupName('retrier') },
    allowedTargets: [mine, theirs],
    policies: { [orders]: { redirectTopic: '{topic}.{group}.retry' } },
  })
  const worker = createSlotWorker(deps)
  onTestFinished(async () => {
    await worker.close()
    await deps.targets.close()
  })
  const due = {
    ...{ record_value: Buffer.from('x'), record_headers: database.sql.json([]), next_retry_at: new Date(0) },
    original_topic: orders,
  }
  const sent = await insertMessageRow(database.sql, { ...due, consumer_group: 'billing' })
  const nameless = await insertMessageRow(database.sql, due)
  const outside = await insertMessageRow(database.sql, { ...due, consumer_group: 'other' })
  const [run] = await database.sql`
    insert into dlq.dlq_runs (kind, status, actor, selection, scope, cutoff, until_id, matched, matched_relation, on_refailure, max_refailure, target_topic)
    values ('redirect', 'running', 'ann', '{"filter":{}}', ${[`${orders}*billing*`]}, now(), ${crypto.randomUUID()}, 2, 'eq', 'continue', 0.5,
            '{topic}.{group}.retry')
    returning id`
  const beyond = await insertMessageRow(database.sql, { ...due, consumer_group: 'search', run_id: run!.id })
  while ((await worker.pass()).more);

  expect(await readMessageRow(database.sql, sent)).toMatchObject({ status: 'RESOLVED' })
  const errorOf = async (id: string) =>
    (await database.sql`select error from dlq.dlq_attempts where message_id = ${id}`)[0]?.error
  expect(await errorOf(nameless)).toContain('names a consumer group')
  expect(await errorOf(outside)).toContain('kafka.allowed_targets')
  expect(await errorOf(beyond)).toContain('may not write')
  expect(await readTopic(topics.kafka, { topic: mine, groupId: topics.groupName('reader') })).toHaveLength(1)
  expect(await readTopic(topics.kafka, { topic: theirs, groupId: topics.groupName('reader') })).toEqual([])
})
