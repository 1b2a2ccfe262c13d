// What real consumer groups have read, as a look finds it on the shared broker.

import { defaultRetryPolicy, type RetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import { createGroupReader } from 'dlq-core/runtime/kafka/groups/group-reader.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { eventually } from 'dlq-testing/eventually.ts'
import { recreateTopic } from 'dlq-testing/kafka/create-topics.ts'
import { useTopics } from 'dlq-testing/kafka/test-topics.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import type { Consumer } from 'kafkajs'
import { Registry } from 'prom-client'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { createReaderWatch } from './reader-watch.ts'
import { createVerdictMetrics } from './verdict-counter.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const topics = useTopics()
let topic: string
let group: string
let registry: Registry

beforeEach(async () => {
  await emptyTables(
    database.sql,
    'dlq.dlq_readers',
    'dlq.dlq_reader_partitions',
    'dlq.dlq_reader_gaps',
    'dlq.dlq_target_topics',
  )
  await emptyTables(database.sql, 'dlq.dlq_attempts', 'dlq.dlq_messages', 'dlq.dlq_summary_totals')
  registry = new Registry()
  topic = await topics.createTopic('orders', { partitions: 1 })
  group = `${topic}.billing`
})

const log = createLog({ service: 'test', level: 'silent' })

/** `onAsked`: what happens once Kafka was asked for the offsets of a group. */
function watch(horizonMs = 150_000, policy: Partial<RetryPolicy> = {}, onAsked = async (_group: string) => {}) {
  const admin: typeof topics.admin = {
    ...topics.admin,
    async fetchOffsets(options) {
      const found = await topics.admin.fetchOffsets(options)
      await onAsked(options.groupId)
      return found
    },
  }
  const groups = createGroupReader(topics.kafka)
  onTestFinished(() => groups.disconnect())
  const pass = createReaderWatch({
    ...{
      admin,
      reader: topics.reader,
      sql: service.sql,
      ownGroup: 'dlq-manager.test',
      everyMs: 60_000,
      horizonMs,
      archiveRetentionMs: 365 * 86_400_000,
      now: Date.now,
    },
    ...{ log, groups, metrics: createVerdictMetrics(registry) },
    policies: { load: async () => {}, policyOf: () => ({ ...defaultRetryPolicy, ...policy }) },
  })
  return async () => {
    await database.sql`update dlq.dlq_reader_watch set look_due_at = now()`
    await pass()
  }
}

/** Sends a record as an attempt of a message of the group. Returns how to ask for its verdict. */
async function sendAttempt(consumerGroup: string | null = group): Promise<() => Promise<object>> {
  return addAttempt(await produce(1), consumerGroup)
}

/** Returns the offset of the first record. */
async function produce(records: number): Promise<string> {
  const producer = topics.kafka.producer({ allowAutoTopicCreation: false })
  await producer.connect()
  const [sent] = await producer.send({ topic, messages: Array.from({ length: records }, () => ({ value: 'x' })) })
  await producer.disconnect()
  return sent!.baseOffset!
}

async function addAttempt(offset: string, consumerGroup: string | null = group): Promise<() => Promise<object>> {
  const id = await insertMessageRow(database.sql, { original_topic: topic, consumer_group: consumerGroup })
  await database.sql`select dlq.fold_summary()`
  await database.sql`
    insert into dlq.dlq_attempts (message_id, number, attempt_id, outcome, target_topic, target_partition, target_offset, settled_at)
    values (${id}, 1, ${crypto.randomUUID()}, 'published', ${topic}, 0, ${offset}, now())`
  return async () => {
    const [row] = await database.sql`
      select v.verdict, v.verdict_reason as reason, v.judged_by
      from dlq.dlq_attempts a join dlq.dlq_messages m on m.id = a.message_id
      cross join lateral dlq.verdict(
        m.consumer_group, a.target_topic, a.target_partition, a.target_offset, a.settled_at, a.failed_again_at) v
      where a.message_id = ${id}`
    return { ...row! }
  }
}

/** Reads the topic as the group does, until it is stopped. */
async function consume(): Promise<Consumer> {
  const consumer = topics.kafka.consumer({ groupId: group, sessionTimeout: 6000, heartbeatInterval: 500 })
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await consumer.run({ autoCommitThreshold: 1, eachMessage: async () => {} })
  return consumer
}

test('a record is sent while its consumer is down, passed when it was read, and consumed when nothing came back', async () => {
  const look = watch(1)
  const first = await sendAttempt()
  await look()
  expect(await first()).toMatchObject({ verdict: 'unknown', reason: 'no_group' })

  const consumer = await consume()
  try {
    await eventually(async () => {
      await look()
      expect(await first()).toEqual({ verdict: 'passed', reason: null, judged_by: group })
    })
  } finally {
    await consumer.disconnect()
  }

  const second = await sendAttempt()
  await look()
  expect(await second()).toEqual({ verdict: 'sent', reason: null, judged_by: group })
  const [reader] = await database.sql`select state, members from dlq.dlq_readers`
  expect(reader).toEqual({ state: 'Empty', members: 0 })

  // The DLQ topic was looked at later, and all of it is stored.
  await database.sql`
    insert into dlq.dlq_topics (cluster, topic, partitions, looked_at)
    values ('c', ${`${topic}.dlq.v1`}, 1, now() + interval '1 minute')`
  await look()
  expect(await first()).toMatchObject({ verdict: 'consumed' })
  expect(await second()).toMatchObject({ verdict: 'sent' })
})

test('what a retrier found whose clock is a day behind has not waited for a day, nor does a frozen one store what it found before', async () => {
  const verdict = await sendAttempt()
  await topics.admin.setOffsets({ groupId: group, topic, partitions: [{ partition: 0, offset: '1' }] })
  await database.sql`
    insert into dlq.dlq_topics (cluster, topic, partitions, looked_at)
    values ('c', ${`${topic}.dlq.v1`}, 1, now() + interval '1 minute')`
  let isFreezing = false
  const look = watch(150_000, {}, async (asked) => {
    if (asked !== group || !isFreezing) return
    isFreezing = false
    await produce(1)
    await look()
  })
  const present = Date.now
  const behind = vi.spyOn(Date, 'now').mockImplementation(() => present() - 86_400_000)
  await look().finally(() => behind.mockRestore())
  await look()
  expect(await verdict()).toMatchObject({ verdict: 'passed' })

  isFreezing = true
  await look()
  const ends = await database.sql`select log_end_offset from dlq.dlq_reader_partitions where consumer_group = ${group}`
  expect([...ends]).toEqual([{ log_end_offset: '2' }])
})

test('the last record of a transaction is read although the marker behind it keeps a lag', async () => {
  const transactional = topics.kafka.producer({ transactionalId: topics.groupName('sender'), maxInFlightRequests: 1 })
  await transactional.connect()
  const transaction = await transactional.transaction()
  await transaction.send({ topic, messages: [{ value: '1' }, { value: '2' }, { value: '3' }] })
  await transaction.commit()
  await transactional.disconnect()
  // kafkajs as published stays at the marker, Java's client goes behind it; a third group has the last record to read.
  const committed = { kafkajs: '3', java: '4', behind: '2' }
  const verdicts = Object.fromEntries(
    await Promise.all(
      Object.entries(committed).map(async ([name, offset]) => {
        const groupId = `${group}.${name}`
        await topics.admin.setOffsets({ groupId, topic, partitions: [{ partition: 0, offset }] })
        return [name, await addAttempt('2', groupId)] as const
      }),
    ),
  )
  const look = watch()
  await look()
  expect(await verdicts.kafkajs!()).toMatchObject({ verdict: 'passed' })
  expect(await verdicts.java!()).toMatchObject({ verdict: 'passed' })
  expect(await verdicts.behind!()).toMatchObject({ verdict: 'sent' })
  expect(await database.sql`select distinct log_end_offset from dlq.dlq_reader_partitions`).toEqual([
    { log_end_offset: '4' },
  ])
})

test('a group that was deleted has read what it had read, and is gone for what came later', async () => {
  const first = await sendAttempt()
  const look = watch()
  const consumer = await consume()
  try {
    await eventually(async () => {
      await look()
      expect(await first()).toMatchObject({ verdict: 'passed' })
    })
  } finally {
    await consumer.disconnect()
  }
  await topics.admin.deleteGroups([group])
  const second = await sendAttempt()
  await look()
  expect(await first()).toMatchObject({ verdict: 'passed' })
  expect(await second()).toMatchObject({ verdict: 'unknown', reason: 'group_gone' })
  // Back, it begins at the end of the topic.
  await topics.admin.setOffsets({ groupId: group, topic, partitions: [{ partition: 0, offset: '2' }] })
  await look()
  expect(await first()).toMatchObject({ verdict: 'passed' })
  expect(await second()).toMatchObject({ verdict: 'skipped' })
})

test('a record that somebody jumped over was not read', async () => {
  await topics.admin.setOffsets({ groupId: group, topic, partitions: [{ partition: 0, offset: '0' }] })
  const verdict = await sendAttempt()
  const look = watch()
  await look()
  await topics.admin.setOffsets({ groupId: group, topic, partitions: [{ partition: 0, offset: '1' }] })
  await look()
  expect(await verdict()).toMatchObject({ verdict: 'skipped' })

  // Nor was it a year later, when its message may still be in the archive.
  await database.sql`update dlq.dlq_attempts set settled_at = now() - interval '361 days'`
  await database.sql`update dlq.dlq_reader_gaps set seen_at = now() - interval '360 days'`
  registry = new Registry()
  await watch()()
  expect(await verdict()).toMatchObject({ verdict: 'skipped' })
})

test('a record that was deleted before it was read was not read either when its group goes on behind it', async () => {
  await topics.admin.setOffsets({ groupId: group, topic, partitions: [{ partition: 0, offset: '0' }] })
  const deleted = await sendAttempt()
  const look = watch()
  await look()
  await topics.admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '1' }] })
  await look()
  expect(await deleted()).toMatchObject({ verdict: 'expired' })

  const next = await sendAttempt()
  const consumer = await consume()
  try {
    await eventually(async () => {
      await look()
      expect(await next()).toMatchObject({ verdict: 'passed' })
    })
  } finally {
    await consumer.disconnect()
  }
  expect(await deleted()).toMatchObject({ verdict: 'skipped' })
})

test('where no group has failed on the topic, those that read it now are asked', async () => {
  const consumer = await consume()
  try {
    const verdict = await sendAttempt(null)
    const look = watch()
    await eventually(async () => {
      await look()
      expect(await verdict()).toEqual({ verdict: 'passed', reason: null, judged_by: group })
    })
  } finally {
    await consumer.disconnect()
  }
})

test('what was sent to a topic that was deleted and created again cannot be told, however far the new one is read', async () => {
  const ofOld = await sendAttempt()
  const look = watch()
  await topics.admin.setOffsets({ groupId: group, topic, partitions: [{ partition: 0, offset: '0' }] })
  await look()
  expect(await ofOld()).toMatchObject({ verdict: 'sent' })

  await recreateTopic(topics.admin, { topic, numPartitions: 1 })
  await produce(3)
  await topics.admin.setOffsets({ groupId: group, topic, partitions: [{ partition: 0, offset: '3' }] })
  await look()
  expect(await ofOld()).toMatchObject({ verdict: 'unknown', reason: 'new_topic' })
  const ofNew = await addAttempt('2')
  await look()
  expect(await ofNew()).toMatchObject({ verdict: 'passed' })
  expect(await ofOld()).toMatchObject({ verdict: 'unknown', reason: 'new_topic' })
  // The record that nobody read was not counted as read.
  const { values } = await registry.getSingleMetric('dlq_verdicts_total')!.get()
  expect(values.filter(({ value }) => value > 0)).toEqual([])
})

test('a topic whose attempts are all archived is still followed', async () => {
  await sendAttempt()
  const look = watch()
  await look()
  await database.sql`delete from dlq.dlq_attempts`
  await recreateTopic(topics.admin, { topic, numPartitions: 1 })
  await eventually(async () => {
    await look()
    const [known] = await database.sql`select new_since from dlq.dlq_target_topics where target_topic = ${topic}`
    expect(known!.new_since).not.toBeNull()
  })
})
