import { randomUUID } from 'node:crypto'
import { compilePolicies, type PolicyOf, type TopicPolicy } from 'dlq-core/domain/retry/effective-policy.ts'
import { defaultRetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import { findAttemptsByPlace } from 'dlq-core/queries/ingest/message-correlate.ts'
import { archiveMessages, restoreArchived } from 'dlq-core/queries/upkeep/archive.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { archiveSettled } from './archive-settled.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const settledAt = new Date('2031-03-05T06:07:08.900Z')
const after = (days: number) => new Date(settledAt.getTime() + days * 86_400_000)
const { signal } = new AbortController()

beforeAll(async () => {
  await database.sql`
    select dlq.create_archive_partition(${settledAt}::timestamptz + n * interval '3 months') from generate_series(0, 2) n`
})

beforeEach(async () => {
  for (const table of ['messages', 'messages_archive', 'attempts', 'attempts_archive', 'topics'])
    await database.sql`delete from ${database.sql(`dlq.dlq_${table}`)}`
})

/** Archives by these policies, at a time `days` days after the messages were settled. */
async function archiveAfter(days: number, policies: readonly TopicPolicy[] = []): Promise<number> {
  const effectivePolicyOf = compilePolicies({ section: {}, fileEntries: [], rows: policies })
  const policyOf: PolicyOf = (topics) => effectivePolicyOf(topics).policy
  const { archived } = await archiveSettled({ sql: service.sql, policyOf }, { now: after(days), signal })
  return archived
}

type Settled = { status?: string; topic?: string; dlqTopic?: string | null; count?: number; at?: Date }

async function insertSettled({
  status = 'RESOLVED',
  topic = 'orders',
  dlqTopic = null,
  count = 1,
  at = settledAt,
}: Settled = {}) {
  if (dlqTopic) {
    await database.sql`
      insert into dlq.dlq_topics (cluster, topic, partitions) values ('c', ${dlqTopic}, 1) on conflict do nothing`
  }
  await database.sql`
    insert into dlq.dlq_messages (original_topic, dlq_topic, error_message, status, updated_at)
    select ${topic}, ${dlqTopic}, 'failed ' || n, ${status}, ${at} from generate_series(1, ${count}) n`
}

const counts = async () => {
  const rows = await database.sql`
    select original_topic as topic, status, archived, count(*)::int from (
      select original_topic, status, false as archived from dlq.dlq_messages
      union all select original_topic, status, true from dlq.dlq_messages_archive) both_tables
    group by 1, 2, 3 order by 1, 2, 3`
  return rows.map(({ topic, status, archived, count }) => `${count} ${topic} ${status}${archived ? ' archived' : ''}`)
}

test('RESOLVED and DEAD messages are archived after exactly thirty days, and waiting ones never', async () => {
  for (const status of ['PENDING', 'RETRYING', 'RESOLVED', 'DEAD']) await insertSettled({ status, count: 3 })
  expect([await archiveAfter(29), await archiveAfter(30)]).toEqual([0, 0])
  expect(await archiveAfter(30.000_001)).toBe(6)
  expect(await archiveAfter(200)).toBe(0)
  expect(await counts()).toEqual([
    '3 orders DEAD archived',
    '3 orders PENDING',
    '3 orders RESOLVED archived',
    '3 orders RETRYING',
  ])
})

test('an old message that was resolved recently stays for thirty days from then', async () => {
  const old = '01540000-0000-7000-8000-000000000001'
  await insertMessageRow(database.sql, { id: old, original_topic: 'orders', status: 'RESOLVED', updated_at: settledAt })
  expect([await archiveAfter(29), await archiveAfter(31)]).toEqual([0, 1])
  const [row] = await database.sql`select archived_at from dlq.dlq_messages_archive where id = ${old}`
  expect(row!.archived_at).toEqual(after(31))
})

test('a policy of the original topic, of a pattern or of the DLQ topic says for how long its messages stay', async () => {
  const dayMs = 86_400_000
  const policies = [
    { pattern: 'orders', retention: 90 * dayMs },
    { pattern: 'noise.*', retention: dayMs },
    { pattern: 'shared.dlq.v1', retention: 7 * dayMs },
    { pattern: 'at-once', retention: 0 },
  ]
  await insertSettled({ topic: 'orders' })
  await insertSettled({ topic: 'noise.a' })
  await insertSettled({ topic: 'noise.b' })
  await insertSettled({ topic: 'mixed', dlqTopic: 'shared.dlq.v1' })
  await insertSettled({ topic: 'mixed', dlqTopic: 'mixed.dlq.v1', count: 2 })
  await insertSettled({ topic: 'at-once' })

  expect(await archiveAfter(0.5, policies)).toBe(1)
  expect(await archiveAfter(2, policies)).toBe(2)
  expect(await archiveAfter(8, policies)).toBe(1)
  expect(await counts()).toContain('2 mixed RESOLVED')
  expect(await archiveAfter(31, policies)).toBe(2)
  expect([await archiveAfter(89, policies), await archiveAfter(91, policies)]).toEqual([0, 1])
})

test('many topics with more messages than a batch are walked to their end, over what stays', async () => {
  for (const topic of ['a', 'b', 'c']) {
    await insertSettled({ topic, count: 700 })
    await insertSettled({ topic, count: 5, at: after(10) })
  }
  // Another transaction holds these, so the walk continues behind them.
  await database.sql.begin(async (sql) => {
    await sql`select from dlq.dlq_messages where original_topic = 'b' order by updated_at, id limit 10 for update`
    expect(await archiveAfter(31)).toBe(2090)
  })
  expect(await archiveAfter(31)).toBe(10)
  expect(await counts()).toEqual(
    ['a', 'b', 'c'].flatMap((topic) => [`5 ${topic} RESOLVED`, `700 ${topic} RESOLVED archived`]),
  )
})

test('an execution that is stopped ends between two batches, and the next one continues', async () => {
  await insertSettled({ count: 30 })
  const stopped = AbortSignal.abort(new Error('stopped'))
  const policyOf = () => ({ ...defaultRetryPolicy, retentionMs: 0 })
  await expect(archiveSettled({ sql: service.sql, policyOf }, { now: after(31), signal: stopped })).rejects.toThrow(
    'stopped',
  )
  expect(await archiveAfter(31)).toBe(30)
})

test('attempts are archived and restored with their message, and a dead letter finds them in between', async () => {
  const id = await insertMessageRow(database.sql, {
    original_topic: 'orders',
    status: 'RESOLVED',
    updated_at: settledAt,
  })
  await database.sql`
    insert into dlq.dlq_attempts (message_id, number, attempt_id, outcome, target_topic, target_partition, target_offset)
    values (${id}, 1, ${randomUUID()}, 'failed', null, null, null), (${id}, 2, ${randomUUID()}, 'published', 'orders', 3, 77)`
  const before = [...(await database.sql`select * from dlq.dlq_attempts order by number`)]
  await archiveAfter(31)

  expect(await database.sql`select from dlq.dlq_attempts`).toHaveLength(0)
  const place = { topic: 'orders', partition: 3, offset: 77n }
  expect(await findAttemptsByPlace(service.sql, [place])).toEqual([{ ...place, message_id: id, number: 2 }])

  expect(await restoreArchived(service.sql, [id, randomUUID()])).toEqual([id])
  expect([...(await database.sql`select * from dlq.dlq_attempts order by number`)]).toEqual(before)
  expect(await database.sql`select from dlq.dlq_attempts_archive`).toHaveLength(0)
})

test('a restored message counts as changed, so the next night leaves it', async () => {
  await insertSettled({ at: new Date(Date.now() - 40 * 86_400_000) })
  const [{ id }] = await database.sql<[{ id: string }]>`select id from dlq.dlq_messages`
  await archiveMessages(service.sql, { ids: [id], now: new Date() })
  await restoreArchived(service.sql, [id])

  const [row] =
    await database.sql`select status, updated_at > now() - interval '1 minute' as touched from dlq.dlq_messages`
  expect(row).toEqual({ status: 'RESOLVED', touched: true })
})

test('messages that wait, or were changed since, are not archived by their ids either', async () => {
  await insertSettled({ status: 'PENDING' })
  await insertSettled({ at: after(1) })
  const ids = (await database.sql<{ id: string }[]>`select id from dlq.dlq_messages`).map(({ id }) => id)
  expect(await archiveMessages(service.sql, { ids, before: after(1), now: after(31) })).toBe(0)
  expect(await archiveMessages(service.sql, { ids, now: after(31) })).toBe(1)
})
