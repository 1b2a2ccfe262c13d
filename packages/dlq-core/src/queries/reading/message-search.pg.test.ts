// Compares a search with the same filter in JavaScript over all rows, for any index, any size of a page, and any bound
// on the rows of one statement.

import { createHash } from 'node:crypto'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { captureGlob, matchesTopicGlobs } from '../../domain/failure/topic-globs.ts'
import { keysBytes, type MessageFilter } from '../../domain/message/message-filter.ts'
import { type Status, statuses } from '../../domain/retry/message-state.ts'
import { recordTopics } from '../ingest/topics.ts'
import type { TopicScope } from '../topic-scope.ts'
import { topicWithin } from '../topic-within.ts'
import type { MessageSearch, MessageSort } from './message-scan.ts'
import { countMessages, type MessageRow, pageOfTopic, searchIds, searchMessages } from './message-search.ts'
import { resolveTopic } from './message-topic.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

const groupIds = [1, 2, 3].map((n) => `00000000-0000-8000-8000-00000000000${n}`)
const rowCount = 150

type Row = {
  id: string
  original_topic: string
  dlq_topic: string | null
  status: Status
  consumer_group: string | null
  error_class: string | null
  error_message: string
  group_id: string | null
  original_partition: number | null
  original_offset: string | null
  record_key: Buffer | null
  retry_count: number
  created_at: string
  last_failed_at: string
  next_retry_at: string | null
  payload: string | null
}
const live: Row[] = []
const archived: Row[] = []

beforeAll(async () => {
  await recordTopics(service.sql, {
    cluster: 'c',
    found: ['orders.dlq.v1', 'late.dlq.v1'].map((topic) => ({ topic, topic_id: null, partitions: 1 })),
  })
  // Twenty rows share each created_at, as rows of one transaction do. Few of a kind, so that filters meet.
  await database.sql`
    insert into dlq.dlq_messages (
      id, original_topic, dlq_topic, status, consumer_group, error_class, error_message, group_id, original_partition,
      original_offset, record_key, retry_count, created_at, last_failed_at, next_retry_at, payload)
    select
      (left(dlq.uuid_floor(now() + (n % 3 - 1) * interval '1 month' + n * interval '1 s')::text, 13) || '-7' || right(md5(n::text), 3) || '-8' || right(md5('b' || n), 3) || '-' || left(md5('c' || n), 12))::uuid,
      (array['orders', 'orders.eu', 'payments', 'orders.dlq.v1'])[1 + n % 4],
      (array['orders.dlq.v1', 'late.dlq.v1', null])[1 + n / 7 % 3],
      (array['PENDING', 'PENDING', 'RESOLVED', 'DEAD', 'RETRYING'])[1 + n / 3 % 5],
      (array['billing', 'shipping', null])[1 + n / 11 % 3],
      (array['com.example.Late', 'com.example.Lost', null])[1 + n / 13 % 3],
      'item ' || n % 9 || ' is 100% gone_',
      (array[${groupIds[0]!}, ${groupIds[1]!}, ${groupIds[2]!}, null])[1 + n / 5 % 4]::uuid,
      n % 3, n, case when n % 6 > 0 then decode(repeat(md5((n % 6)::text), 4), 'hex') || 'k'::bytea end, n % 4,
      '2026-02-20 10:00:00.000123+00'::timestamptz + (n / 20) * interval '1 minute',
      '2026-02-21 10:00:00+00'::timestamptz + n * interval '1 minute',
      case when n % 2 = 0 then '2026-03-01 00:00:00.000007+00'::timestamptz + (n % 10) * interval '1 minute' end,
      case when n % 7 > 0 then jsonb_build_object('order_id', (n % 7)::text, 'lines', jsonb_build_array(n)) end
    from generate_series(1, ${rowCount}) n`
  await database.sql`
    select dlq.archive_messages(
      array(select id from dlq.dlq_messages where status in ('RESOLVED', 'DEAD') and retry_count > 1), p_now => '2026-05-05')`
  await database.sql`vacuum analyze dlq.dlq_messages`
  for (const [table, rows] of [
    ['dlq_messages', live],
    ['dlq_messages_archive', archived],
  ] as const) {
    rows.push(
      ...(await service.sql<Row[]>`
        select id, original_topic, dlq_topic, status, consumer_group, error_class, error_message, group_id, original_partition,
               original_offset::text as original_offset, record_key, retry_count, created_at::text as created_at,
               last_failed_at::text as last_failed_at, next_retry_at::text as next_retry_at, payload::text as payload
        from ${service.sql(`dlq.${table}`)}`),
    )
  }
})

function means(row: Row, f: MessageFilter): boolean {
  const at = (text: string) => Date.parse(text)
  const arrivedAt = ({ id }: Row) => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)
  const topicMeans = (topic: string) => {
    const known = ['orders.dlq.v1', 'late.dlq.v1'].includes(topic) || topic === '*.dlq.v1'
    const name = known ? row.dlq_topic : row.original_topic
    return name !== null && captureGlob(topic, name) !== null
  }
  return (
    (f.status?.includes(row.status) ?? true) &&
    (f.topic === undefined || topicMeans(f.topic)) &&
    (f.consumer_group === undefined || row.consumer_group === f.consumer_group) &&
    (f.error_class === undefined || row.error_class === f.error_class) &&
    (f.group_id === undefined || row.group_id === f.group_id) &&
    (f.partition === undefined || row.original_partition === f.partition) &&
    (f.offset_from === undefined || BigInt(row.original_offset!) >= BigInt(f.offset_from)) &&
    (f.offset_to === undefined || BigInt(row.original_offset!) <= BigInt(f.offset_to)) &&
    (f.key === undefined || keysBytes(f.key).some((key) => row.record_key?.equals(key) ?? false)) &&
    (f.from === undefined || at(row.created_at) >= at(f.from)) &&
    (f.to === undefined || at(row.created_at) < at(f.to)) &&
    (f.arrived_from === undefined || arrivedAt(row) >= at(f.arrived_from)) &&
    (f.arrived_to === undefined || arrivedAt(row) < at(f.arrived_to)) &&
    (f.failed_from === undefined || at(row.last_failed_at) >= at(f.failed_from)) &&
    (f.failed_to === undefined || at(row.last_failed_at) < at(f.failed_to)) &&
    (f.retry_count_min === undefined || row.retry_count >= f.retry_count_min) &&
    (f.retry_count_max === undefined || row.retry_count <= f.retry_count_max) &&
    (f.q === undefined ||
      [row.error_message, row.error_class ?? ''].some((text) => text.toLowerCase().includes(f.q!.toLowerCase()))) &&
    (f.payload === undefined ||
      (row.payload !== null && JSON.parse(row.payload).order_id === JSON.parse(f.payload).order_id))
  )
}

/** Whether the topic has names that are looked up. */
function isLookedUp({ topic }: MessageFilter, isWide: boolean): boolean {
  return topic !== undefined && !(isWide && topic.includes('*'))
}

function expectedIds(filter: MessageFilter, sort: MessageSort, scope: TopicScope, isWide = false): string[] {
  const seen = ({ original_topic, dlq_topic }: Row) =>
    scope === null || [original_topic, dlq_topic ?? ''].some((topic) => matchesTopicGlobs(scope, topic))
  const found = (filter.archived ? archived : live).filter((row) => means(row, filter) && seen(row))
  const byTime =
    filter.archived || filter.key !== undefined || filter.group_id !== undefined || isLookedUp(filter, isWide)
      ? false
      : (filter.from ?? filter.to) !== undefined
  if (sort === 'next_due') {
    return found
      .filter(({ status, next_retry_at }) => status === 'PENDING' && next_retry_at !== null)
      .sort((a, b) => compare(`${a.next_retry_at} ${a.id}`, `${b.next_retry_at} ${b.id}`))
      .map(({ id }) => id)
  }
  const ids = found
    .sort((a, b) => (byTime ? compare(`${a.created_at} ${a.id}`, `${b.created_at} ${b.id}`) : compare(a.id, b.id)))
    .map(({ id }) => id)
  return sort === 'newest' ? ids.toReversed() : ids
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

const keyOf = ({ sort_time, id }: MessageRow) => (sort_time === null ? [id] : [sort_time, id])

async function searchOf(
  filter: MessageFilter,
  sort: MessageSort,
  { scope = null, isMixed = false, isWide = false }: { scope?: TopicScope; isMixed?: boolean; isWide?: boolean } = {},
): Promise<MessageSearch> {
  const { archived } = filter
  const topic = filter.topic === undefined ? null : await resolveTopic(service.sql, filter.topic, { archived })
  const wide = filter.topic !== undefined && !isLookedUp(filter, isWide) ? { names: null, glob: filter.topic } : {}
  const named = topic && { ...topic, isMixed, ...wide }
  return { filter, topic: await topicWithin(service.sql, { filter, topic: named, scope }), scope, sort }
}

/** Page after page from `after` to the end. */
async function walk(
  search: MessageSearch,
  {
    after,
    backwards,
    limit,
    examine,
  }: { after: readonly string[] | null; backwards: boolean; limit: number; examine: number },
): Promise<MessageRow[]> {
  const all: MessageRow[] = []
  for (let at = after; ; ) {
    const { rows, examinedTo } = await searchMessages(service.sql, { search, after: at, backwards, limit, examine })
    expect(rows.length).toBeLessThanOrEqual(limit)
    all.push(...rows)
    if (examinedTo !== null) at = examinedTo
    else if (rows.length === limit) at = keyOf(rows.at(-1)!)
    else return all
  }
}

/** The records are of a month ago, of now and of a month ahead. */
const fromNow = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()

const fields = {
  status: fc.subarray([...statuses].sort(), { minLength: 1 }),
  topic: fc.constantFrom('orders', 'payments', 'orders.dlq.v1', 'orders*', '*.dlq.v1', 'nothing', 'nothing*', '*'),
  consumer_group: fc.constantFrom('billing', 'nobody'),
  error_class: fc.constant('com.example.Late'),
  group_id: fc.constantFrom(...groupIds),
  partition: fc.nat(2),
  offset_from: fc.nat(rowCount).map(String),
  offset_to: fc.nat(rowCount).map(String),
  key: fc.constant(`base64:${Buffer.from(`${md5Of('1').repeat(4)}6b`, 'hex').toString('base64')}`),
  from: fc.constantFrom('2026-02-20T10:03:00.000Z', '2026-02-20T10:01:00.001Z'),
  to: fc.constantFrom('2026-02-20T10:08:00.000Z', '2026-02-20T10:05:00.001Z'),
  arrived_from: fc.constantFrom(fromNow(-2), fromNow(0)),
  arrived_to: fc.constantFrom(fromNow(1), fromNow(20)),
  failed_from: fc.constant('2026-02-21T10:10:00.000Z'),
  failed_to: fc.constant('2026-02-21T12:00:00.000Z'),
  retry_count_min: fc.nat(2),
  retry_count_max: fc.nat(3),
  q: fc.constantFrom('ITEM 3', '100%', 'gone_', 'example.late', '1000'),
  payload: fc.constant('{"order_id":"3"}'),
  archived: fc.boolean(),
} satisfies { [Name in keyof MessageFilter]-?: fc.Arbitrary<NonNullable<MessageFilter[Name]>> }
// Three fields at most, or no message would ever match.
const filters: fc.Arbitrary<MessageFilter> = fc
  .subarray(Object.keys(fields) as (keyof typeof fields)[], { maxLength: 3 })
  .chain(
    (names) => fc.record(Object.fromEntries(names.map((name) => [name, fields[name]]))) as fc.Arbitrary<MessageFilter>,
  )

const scopes = fc.constantFrom<TopicScope>(null, null, ['orders*'], ['late.dlq.v1', 'payments'], ['nothing'])

/**
 * `isMixed`: whether the DLQ topic is tested row by row, whatever its original topics have. `isWide`: a glob is as one that
 * matches too many names.
 */
const resolving = fc.record({ scope: scopes, isMixed: fc.boolean(), isWide: fc.boolean() })

function md5Of(text: string): string {
  return createHash('md5').update(text).digest('hex')
}

test('a search finds exactly the messages of the filter, in its order, forwards and backwards, and counts them', async () => {
  let found = 0
  await fc.assert(
    fc.asyncProperty(
      filters,
      fc.constantFrom<MessageSort>('newest', 'oldest', 'next_due'),
      resolving,
      fc.integer({ min: 4, max: 60 }),
      fc.integer({ min: 9, max: 90 }),
      async (filter, sort, resolved, limit, examine) => {
        fc.pre(!(filter.archived && sort === 'next_due'))
        const ids = expectedIds(filter, sort, resolved.scope, resolved.isWide)
        found += ids.length
        const search = await searchOf(filter, sort, resolved)

        const forwards = await walk(search, { after: null, backwards: false, limit, examine })
        expect(forwards.map(({ id }) => id)).toEqual(ids)
        if (forwards.length > 0) {
          const back = await walk(search, { after: keyOf(forwards.at(-1)!), backwards: true, limit, examine })
          expect(back.map(({ id }) => id)).toEqual(ids.slice(0, -1).toReversed())
        }

        expect(await countMessages(service.sql, { search, atMost: 500 })).toEqual({ value: ids.length, relation: 'eq' })
        const some = await countMessages(service.sql, { search, atMost: 10 })
        expect(some.value).toBeLessThanOrEqual(ids.length)
        if (some.relation === 'eq') expect(some.value).toBe(ids.length)
      },
    ),
    { numRuns: process.env.DLQ_SOAK === '1' ? 2000 : 50 },
  )
  expect(found).toBeGreaterThan(0)
})

test.each<[MessageFilter, MessageSort]>([
  [{ topic: 'nothing*' }, 'newest'],
  [{ topic: 'nothing*', from: '2026-02-20T10:01:00.000Z' }, 'oldest'],
  [{ topic: 'nothing-*-dlq', status: ['DEAD'], q: 'gone' }, 'newest'],
  [{ topic: 'nothing*', archived: true }, 'newest'],
  [{ topic: 'nothing*' }, 'next_due'],
])('a glob that matches no topic finds nothing without looking at messages: %o, %s', async (filter, sort) => {
  const search = await searchOf(filter, sort)
  expect(await searchMessages(service.sql, { search, after: null, limit: 5, examine: 10 })).toEqual({
    ...{ rows: [], examinedTo: null, isEdgeInScope: true, examined: 0 },
  })
  expect(await countMessages(service.sql, { search, atMost: 10 })).toEqual({ value: 0, relation: 'eq' })
})

test.each<MessageFilter>([
  { topic: 'orders*', status: ['PENDING'] },
  { topic: 'orders*', status: ['DEAD', 'RESOLVED'], partition: 1 },
  { topic: '*.dlq.v1', status: ['DEAD', 'PENDING'] },
])('a glob of too many topics for one look-up each finds exactly theirs: %o', async (filter) => {
  const search = await searchOf(filter, 'newest', { isWide: true })
  expect(search.topic!.names).toBe(null)
  const found = await walk(search, { after: null, backwards: false, limit: 7, examine: 20 })
  expect(found.map(({ id }) => id)).toEqual(expectedIds(filter, 'newest', null))
  expect(found.length).toBeGreaterThan(0)
})

test('the ids of a selection come in chunks, oldest first, up to the last id that was asked for', async () => {
  await fc.assert(
    fc.asyncProperty(
      filters,
      scopes,
      fc.integer({ min: 4, max: 60 }),
      fc.integer({ min: 9, max: 90 }),
      fc.nat(rowCount - 1),
      async (filter, scope, limit, examine, place) => {
        fc.pre(!filter.archived)
        const { sort: _, ...search } = await searchOf(filter, 'oldest', { scope })
        const untilId = live.map(({ id }) => id).sort()[place % live.length]!
        const chunks: string[] = []
        for (let afterId: string | null = null; ; ) {
          const { ids, examinedTo } = await searchIds(service.sql, { search, afterId, untilId, limit, examine })
          chunks.push(...ids)
          if (examinedTo === null && ids.length < limit) break
          afterId = examinedTo ?? ids.at(-1)!
        }
        const seen = expectedIds({ ...filter, topic: filter.topic ?? '*' }, 'oldest', scope)
        expect(chunks).toEqual(seen.filter((id) => id <= untilId))
      },
    ),
    { numRuns: process.env.DLQ_SOAK === '1' ? 1000 : 40 },
  )
})

describe('before the first full count has ended', () => {
  beforeAll(() => database.sql`update dlq.dlq_summary_state set counted_at = null`)
  afterAll(() => database.sql`update dlq.dlq_summary_state set counted_at = now()`)

  // The counts are taken away as well, so that only the index can say which topics there are.
  test.each<MessageFilter>([
    { status: ['PENDING'] },
    { status: ['DEAD', 'RETRYING'] },
    { topic: 'orders.dlq.v1' },
    { topic: '*.dlq.v1', status: ['PENDING', 'RESOLVED'] },
  ])('a search finds the same messages: %o', async (filter) => {
    const undo = new Error('undo')
    await service.sql
      .begin(async (sql) => {
        await sql`delete from dlq.dlq_summary`
        await sql`delete from dlq.dlq_summary_totals`
        await sql`delete from dlq.dlq_summary_deltas`
        const topic = filter.topic === undefined ? null : await resolveTopic(sql, filter.topic)
        if (topic?.column === 'dlq_topic') expect(topic.isMixed).toBe(true)
        const search = { filter, topic, scope: null, sort: 'newest' as const }
        const { rows } = await searchMessages(sql, { search, after: null, limit: rowCount, examine: rowCount })
        expect(rows.map(({ id }) => id)).toEqual(expectedIds(filter, 'newest', null))
        throw undo
      })
      .catch((error) => {
        if (error !== undo) throw error
      })
  })
})

test('the pages of a topic by number are its messages in the scope, newest first, with their number', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('orders', 'payments', 'orders.dlq.v1', 'late.dlq.v1'),
      scopes,
      fc.integer({ min: 1, max: 30 }),
      fc.nat(4),
      async (name, scope, limit, page) => {
        const topic = await resolveTopic(service.sql, name, { literally: true })
        const ids = expectedIds({ topic: name }, 'newest', scope)
        const offset = page * limit
        const { total, rows } = await pageOfTopic(service.sql, { topic, scope, limit, offset })
        expect([total, rows.map(({ id }) => id)]).toEqual([ids.length, ids.slice(offset, offset + limit)])
      },
    ),
    { numRuns: process.env.DLQ_SOAK === '1' ? 1000 : 60 },
  )
})

describe('a total', () => {
  test('of topics together counts as many rows as one along a single index', async () => {
    await database.sql`
      insert into dlq.dlq_messages (original_topic, error_message, dlq_topic)
      select 'shared', case when n > 700 then 'wanted' else 'other' end,
             case when n > 700 then 'late.dlq.v1' else 'other.dlq.v1' end
      from generate_series(1, 703) n`
    for (const [filter, isMixed] of [
      [{ topic: 'late.dlq.v1', status: ['PENDING'] }, true],
      [{ status: ['PENDING'], q: 'wanted' }, false],
    ] as const) {
      const search = await searchOf({ ...filter, status: [...filter.status] }, 'oldest', { isMixed })
      const expected = expectedIds({ ...filter, status: ['PENDING'] }, 'oldest', null).length + 3
      expect(await countMessages(service.sql, { search, atMost: 5000 })).toEqual({ value: expected, relation: 'eq' })
      expect((await countMessages(service.sql, { search, atMost: 5000, atMostRead: 600 })).relation).toBe('gte')
    }
    await database.sql`delete from dlq.dlq_messages where original_topic = 'shared'`
  })

  test('says when it is only a lower bound', async () => {
    const all = await searchOf({}, 'newest')
    expect(await countMessages(service.sql, { search: all, atMost: 100 })).toEqual({ value: 100, relation: 'gte' })
    const some = await countMessages(service.sql, {
      search: await searchOf({ consumer_group: 'billing' }, 'newest'),
      atMost: 100,
    })
    expect(some.relation).toBe('gte')
    expect(some.value).toBeGreaterThan(0)
  })
})
