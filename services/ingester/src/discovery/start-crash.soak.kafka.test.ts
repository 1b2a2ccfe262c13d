// Ingesters that die by SIGKILL while they begin a topic that somebody subscribed to, and while they store its first
// records. The topic and its positions are there whole or not at all, and no record is lost or doubled.

import { addSubscription } from 'dlq-core/queries/discovery/subscriptions.ts'
import { eventually } from 'dlq-testing/eventually.ts'
import { useLogFolder } from 'dlq-testing/fleet/log-folder.ts'
import { createFleet } from 'dlq-testing/fleet/service-fleet.ts'
import { createTopics } from 'dlq-testing/kafka/create-topics.ts'
import { useTopics } from 'dlq-testing/kafka/test-topics.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { killInTransaction } from 'dlq-testing/process/kill-in-transaction.ts'
import { createReaper } from 'dlq-testing/process/reaper.ts'
import { afterAll, expect, onTestFinished, test } from 'vitest'

const database = useDatabase()
const service = useServiceDatabase(database)
const topics = useTopics()
const logs = useLogFolder()
const reaper = createReaper()
afterAll(() => reaper.close())

const partitions = 3
const each = 20

test.each(['earliest', 'latest'] as const)('a start of %s is whole or not there, wherever it dies', async (start) => {
  const topic = topics.topicName('odd-name')
  await createTopics(topics.admin, [{ topic, numPartitions: partitions }])
  const producer = topics.kafka.producer({ allowAutoTopicCreation: false })
  await producer.connect()
  onTestFinished(() => producer.disconnect())
  let sent = 0
  const send = async (timestamp: number) => {
    const messages = Array.from({ length: each * partitions }, (_, n) => ({
      ...{ partition: n % partitions, value: `"${sent + n}"`, timestamp: String(timestamp) },
      headers: { 'dlq-original-topic': 'orders', 'dlq-error-message': 'failed' },
    }))
    await producer.send({ topic, messages })
    sent += messages.length
  }
  const fleet = createFleet({
    ...{ databaseUrl: database.url, kafkaBrokers: topics.brokers, reaper, logDir: logs.path },
    ...{ topicPattern: 'nothing.matches', consumerGroup: topics.groupName('start') },
  })
  onTestFinished(() => fleet.stop())
  const known = async () => {
    const [row] = await database.sql`
      select (select count(*) from dlq.dlq_topics where topic = ${topic})::int as topics,
             (select count(*) from dlq.dlq_positions where topic = ${topic})::int as positions`
    return row
  }

  await send(Date.UTC(2023, 0))
  await addSubscription(service.sql, {
    ...{ cluster: null, pattern: topic, mode: 'ingest', original: 'orders', start, start_at: null },
    ...{ backlog: 'manual', created_by: 'test', reason: null },
  })
  const begun = Date.now() + 1000
  for (const table of ['dlq_topics', 'dlq_positions']) {
    const where = `exists (select from dlq.dlq_topics where topic = '${topic}')`
    await killInTransaction(database, { table, where }, () => fleet.start('ingester'))
    expect(await known()).toEqual({ topics: 0, positions: 0 })
    await send(begun)
  }
  // Behind the rows of its first records, before their position.
  const where = `exists (select from dlq.dlq_messages where dlq_topic = '${topic}')`
  await killInTransaction(database, { table: 'dlq_messages', where }, () => fleet.start('ingester'))
  expect(await known()).toEqual({ topics: 1, positions: partitions })
  await send(begun)

  await fleet.start('ingester')
  const young = each * partitions * 3
  const expected = start === 'earliest' ? sent : young
  const read = async () => {
    const [row] = await database.sql`
      select count(*)::int as rows, count(distinct (dlq_partition, dlq_offset))::int as places,
             count(*) filter (where next_retry_at is not null)::int as due
      from dlq.dlq_messages where dlq_topic = ${topic}`
    return row
  }
  // What Kafka held when the start succeeded is the backlog: it is sent when somebody asks.
  await eventually(async () =>
    expect(await read()).toEqual({ rows: expected, places: expected, due: each * partitions }),
  )
})
