// Groups that resolve themselves: records at offsets of orders/0, as billing has read them.

import type { MessageTopics } from 'dlq-core/domain/retry/effective-policy.ts'
import { defaultRetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import { recordReaders } from 'dlq-core/queries/readers/reader-watch.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, type MessageColumns } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { noRates } from '../readers/reader-rates.ts'
import { createQuietGroupsPass } from './resolve-quiet-groups.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const hourMs = 3_600_000
const group = '00000000-0000-8000-8000-000000000001'
const dlqTopic = 'orders.dlq.v1'

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_readers', 'dlq.dlq_reader_partitions', 'dlq.dlq_attempts')
  await emptyTables(database.sql, 'dlq.dlq_messages', 'dlq.dlq_groups', 'dlq.dlq_group_topics')
  await database.sql`
    insert into dlq.dlq_groups (id, version, message, title) values (${group}, 1, 'no card', 'no card')`
  await database.sql`
    insert into dlq.dlq_group_topics (dlq_topic, group_id, first_seen_at, last_seen_at)
    values (${dlqTopic}, ${group}, now() - interval '3 h', now() - interval '2 h')`
})

/** billing has read orders/0 up to `passed`, and of `settled` nothing comes back any more. */
async function look({ passed = 10n, settled = 10n } = {}): Promise<void> {
  const reader = { target_topic: 'orders', consumer_group: 'billing' }
  const partition = { ...reader, partition: 0, committed_offset: passed, log_start_offset: 0n, log_end_offset: 10n }
  const judged = { passed_offset: passed, settled_offset: settled, marks: [], is_rewound: false, gap: null }
  await recordReaders(service.sql, {
    began_at: new Date().toISOString(),
    readers: [
      {
        ...{
          ...reader,
          type: 'classic',
          state: 'Stable',
          members: 1,
          has_commits: true,
          horizonMs: 1000,
          rates: noRates,
        },
        partitions: [{ ...partition, ...judged }],
      },
    ],
  })
}

async function insertResolved(offset: number, columns: MessageColumns = {}): Promise<string> {
  const id = await insertMessageRow(database.sql, {
    ...{ original_topic: 'orders', dlq_topic: dlqTopic, consumer_group: 'billing', group_id: group },
    ...{ status: 'RESOLVED', retry_count: 1, last_failed_at: new Date(Date.now() - 2 * hourMs), ...columns },
  })
  await database.sql`
    insert into dlq.dlq_attempts (message_id, number, attempt_id, outcome, target_topic, target_partition, target_offset, settled_at)
    values (${id}, 1, ${crypto.randomUUID()}, 'published', 'orders', 0, ${offset}, now() - interval '1 h')`
  return id
}

const passes = (autoResolveMs: (topics: MessageTopics) => number | null = () => hourMs) => {
  const policies = {
    refresh: async () => ({ more: false as const, changed: false }),
    policyOf: (topics: MessageTopics) => ({ ...defaultRetryPolicy, autoResolveMs: autoResolveMs(topics) }),
  }
  const next = createQuietGroupsPass({ sql: service.sql, policies })
  return () => next(new AbortController().signal)
}
const pass = (autoResolveMs: number | null = hourMs) => passes(() => autoResolveMs)()

async function state(): Promise<string> {
  const [row] = await database.sql`select state from dlq.dlq_group_topics`
  return row!.state
}

test('a group whose retries were read and stayed away is resolved by itself, and audited so', async () => {
  await insertResolved(3)
  await insertResolved(4)
  await look()
  expect(await pass()).toBe(1)
  expect(await state()).toBe('resolved')
  const [entry] = await database.sql`
    select actor, action, target_id, dlq_topic, reason from dlq.dlq_audit order by id desc limit 1`
  expect(entry).toEqual({
    ...{ actor: 'auto', action: 'group.change', target_id: group, dlq_topic: dlqTopic },
    reason: 'auto_resolve: nothing failed for 1h, and all was read',
  })
  expect(await pass()).toBe(0)
})

test('an application that has confirmed its work, or resolved it by SQL, needs no offsets', async () => {
  const [confirmed, bySql] = [await insertResolved(3), await insertResolved(4)]
  await database.sql`update dlq.dlq_attempts set confirmed_at = now() where message_id = ${confirmed}`
  await database.sql`update dlq.dlq_attempts set outcome = 'resolved' where message_id = ${bySql}`
  expect(await pass()).toBe(1)
})

test('however many groups stay open because nobody reads them, the others are resolved, and these once they are confirmed', async () => {
  const { sql } = database
  await sql`
    insert into dlq.dlq_groups (id, version, message, title)
    select ('00000000-0000-8000-8000-' || lpad(n::text, 12, '0'))::uuid, 1, 'no card', 'no card' from generate_series(101, 250) n`
  await sql`
    insert into dlq.dlq_group_topics (dlq_topic, group_id, first_seen_at, last_seen_at)
    select ${dlqTopic}, id, now() - interval '4 h', now() - interval '3 h' from dlq.dlq_groups where id <> ${group}`
  for (const { id } of await sql`select id from dlq.dlq_groups where id <> ${group} order by id`)
    await insertResolved(20, { group_id: id })
  await insertResolved(3)
  await look()
  const next = passes()
  expect([await next(), await next()]).toEqual([0, 1])
  await sql`update dlq.dlq_attempts set confirmed_at = now()`
  expect([await next(), await next()]).toEqual([100, 50])
})

describe('a group stays open', () => {
  test.each<[string, () => Promise<unknown>, number | null]>([
    ['without auto_resolve', () => look(), null],
    ['while nobody has read its last retry', () => look({ passed: 3n, settled: 3n }), hourMs],
    ['while its last retry may still come back', () => look({ settled: 3n }), hourMs],
    ['where nobody can tell', async () => {}, hourMs],
    ['until nothing has failed for the time', () => look(), 3 * hourMs],
    [
      'while one of its messages is DEAD',
      async () => {
        await look()
        await insertMessageRow(database.sql, {
          original_topic: 'orders',
          dlq_topic: dlqTopic,
          group_id: group,
          status: 'DEAD',
        })
      },
      hourMs,
    ],
    [
      'where somebody has said something else',
      async () => {
        await look()
        await database.sql`update dlq.dlq_group_topics set state = 'ignored'`
      },
      hourMs,
    ],
  ])('%s', async (_, arrange, autoResolveMs) => {
    await insertResolved(3)
    await arrange()
    const before = await state()
    expect(await pass(autoResolveMs)).toBe(0)
    expect(await state()).toBe(before)
  })

  test.each<[string, number | null]>([
    ['where another of its topics has no auto_resolve', null],
    ['for the longest time of its topics', 3 * hourMs],
  ])('%s', async (_, ofPayments) => {
    await insertResolved(3)
    await insertResolved(4, { original_topic: 'payments' })
    await look()
    expect(await passes(({ original_topic }) => (original_topic === 'payments' ? ofPayments : hourMs))()).toBe(0)
    expect(await pass()).toBe(1)
  })

  test('where a message failed lately, although the group was not seen since', async () => {
    await insertResolved(3, { last_failed_at: new Date() })
    await look()
    expect(await pass()).toBe(0)
  })
})
