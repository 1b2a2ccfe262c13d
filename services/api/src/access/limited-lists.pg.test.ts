// What lists tell a token that is limited to some topics of messages that it may not see: neither where they are nor how
// many.

import { createHash } from 'node:crypto'
import { readFleetChanges } from 'dlq-core/queries/history/fleet-changes.ts'
import { oldestPendingOf } from 'dlq-core/queries/topic-lists/topic-overview.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { createCursorSeal } from '../lists/cursor-seal.ts'
import { findPage } from '../lists/find-page.ts'
import { answerOf, lazyTestApp } from '../test-app.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const auth = {
  tokens: [
    {
      ...{ name: 'orders', role: 'sys_auditor' as const, topics: ['orders*'] },
      sha256: createHash('sha256').update('secret-orders').digest('hex'),
    },
  ],
}
const app = lazyTestApp(service, { auth })
// biome-ignore lint/suspicious/noExplicitAny: answers are compared, not used
const get = async (path: string): Promise<any> =>
  (await answerOf(app(`GET /api/v1/${path}`, { headers: { authorization: 'Bearer secret-orders' } }))).body

const group = '00000000-0000-8000-8000-000000000007'
const idAt = (minute: number) => `0198${String(minute).padStart(4, '0')}-0000-7000-8000-000000000000`
const insert = (minute: number, original_topic: string, columns = {}) =>
  insertMessageRow(database.sql, {
    ...{ id: idAt(minute), original_topic, dlq_topic: `${original_topic}.dlq.v1`, group_id: group, ...columns },
  })
const insertMany = (original_topic: string, count: number) => database.sql`
  insert into dlq.dlq_messages (original_topic, dlq_topic, error_message, group_id, status)
  select ${original_topic}, ${`${original_topic}.dlq.v1`}, 'failed', ${group}, 'DEAD' from generate_series(1, ${count}::int)`

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_messages', 'dlq.dlq_messages_archive', 'dlq.dlq_attempts')
})

describe('a page that ends among messages of others', () => {
  const search = { filter: { group_id: group }, topic: null, scope: ['orders*'], sort: 'newest' as const }
  const seal = createCursorSeal(undefined)
  const pageAt = (cursor: string | undefined, by = seal) =>
    findPage(service.sql, {
      ...{ search, cursor, limit: 1, seal: by, signal: new AbortController().signal },
      effort: { examine: 3, budgetMs: 0 },
    })

  test('does not say which these are, and is continued all the same', async () => {
    await insert(0, 'orders')
    for (let minute = 1; minute < 8; minute += 1) await insert(minute, 'pay')
    const found: string[] = []
    for (let cursor: string | undefined; ; ) {
      const { rows, nextCursor, prevCursor, searchedTo, bounded } = await pageAt(cursor)
      found.push(...rows.map(({ id }) => id))
      if (nextCursor === null) break
      expect(bounded).toBe(true)
      expect(searchedTo).toBeNull()
      for (const sealed of [nextCursor, prevCursor].filter((one) => one !== null)) {
        expect(sealed).toMatch(/^_/)
        expect(Buffer.from(sealed.slice(1), 'base64url').toString()).not.toContain('0198')
      }
      cursor = nextCursor
    }
    expect(found).toEqual([idAt(0)])
  })

  test('is continued by no other key, and nothing else opens', async () => {
    for (let minute = 1; minute < 8; minute += 1) await insert(minute, 'pay')
    const { nextCursor } = await pageAt(undefined)
    await expect(pageAt(nextCursor!, createCursorSeal(undefined))).rejects.toThrow('invalid cursor')
    for (const wrong of ['_', '_AAAA', `${nextCursor}A`, nextCursor!.slice(0, -4)])
      await expect(pageAt(wrong)).rejects.toThrow('invalid cursor')
  })

  test('says where it is where the message is one that may be seen', async () => {
    for (let minute = 1; minute < 8; minute += 1) await insert(minute, 'orders', { consumer_group: 'usual' })
    const { nextCursor, searchedTo } = await findPage(service.sql, {
      search: { ...search, filter: { ...search.filter, consumer_group: 'rare' } },
      ...{ cursor: undefined, limit: 1, seal, signal: new AbortController().signal },
      effort: { examine: 3, budgetMs: 0 },
    })
    expect(Buffer.from(nextCursor!, 'base64url').toString()).toContain(idAt(5))
    expect(searchedTo).not.toBeNull()
  })
})

test('attempts of others are passed over without a word about them', async () => {
  await insert(0, 'orders')
  await insertMany('pay', 1001)
  await database.sql`
    insert into dlq.dlq_attempts (message_id, number, attempt_id, outcome, settled_at)
    select id, 1, id, 'published', case original_topic when 'pay' then '2026-02-20 12:00Z' else '2026-02-20 11:00Z' end::timestamptz
    from dlq.dlq_messages`
  // By the messages of its own topics, which are few.
  expect(await get('attempts')).toMatchObject({
    ...{ attempts: [{ message_id: idAt(0) }], pagination: { next_cursor: null } },
  })
  const byTime = 'attempts?from=2020-01-01T00:00:00Z'
  const first = await get(byTime)
  expect(first).toMatchObject({
    attempts: [],
    pagination: { searched_to: null, next_cursor: expect.stringMatching(/^_/) },
  })
  const second = await get(`${byTime}&cursor=${first.pagination.next_cursor}`)
  expect(second).toMatchObject({ attempts: [{ message_id: idAt(0) }], pagination: { next_cursor: null } })
})

test('messages that a run has and its caller sees no more are not listed, whatever became of them', async () => {
  const [run] = await database.sql`
    insert into dlq.dlq_runs (
      kind, actor, selection, scope, cutoff, until_id, matched, matched_relation, on_refailure, max_refailure)
    values ('retry', 'orders', '{"filter":{"topic":"orders"}}', array['orders*'], now(), ${idAt(9)}, 6, 'eq', 'continue', 1)
    returning id`
  for (const [at, topic] of ['orders', 'pay'].entries()) {
    await insert(at, topic, { run_id: run!.id })
    for (const minute of [at + 2, at + 4]) await insert(minute, topic)
    await database.sql`
      insert into dlq.dlq_run_skipped (run_id, message_id, reason) values (${run!.id}, ${idAt(at + 2)}, 'dead')`
    await database.sql`
      insert into dlq.dlq_attempts (message_id, number, attempt_id, run_id, outcome, settled_at, failed_again_at)
      values (${idAt(at + 4)}, 1, ${idAt(at + 4)}, ${run!.id}, 'published', now(), now())`
  }
  await database.sql`
    insert into dlq.dlq_attempts (message_id, number, attempt_id, run_id, outcome, settled_at, failed_again_at)
    values (${idAt(6)}, 1, ${idAt(6)}, ${run!.id}, 'published', now(), now())`
  const seen = async (query: string) =>
    (await get(`runs/${run!.id}/items?${query}`)).items.map(({ id }: { id: string }) => id)
  expect(await seen('')).toEqual([idAt(0), idAt(2), idAt(4)])
  expect(await seen('verdict=came_back')).toEqual([idAt(4)])
})

describe('many messages of others', () => {
  beforeEach(async () => {
    await insert(0, 'orders', { status: 'DEAD' })
    await insertMany('pay', 6000)
  })

  test.each(['', '?status=DEAD', '?topic=orders*', '?consumer_group=none'])(
    'do not stand in the way of messages%s',
    async (query) => {
      const { messages, pagination } = await get(`messages${query}`)
      expect(messages).toHaveLength(query.includes('none') ? 0 : 1)
      expect(pagination).toMatchObject({ bounded: false, next_cursor: null, total: { relation: 'eq' } })
      expect(pagination.examined).toBeLessThanOrEqual(1)
    },
  )

  test('are not counted by their topic', async () => {
    for (const topic of ['pay', 'pay.dlq.v1', 'nothing']) {
      const { messages, pagination } = await get(`messages?topic=${topic}&q=failed`)
      expect({ messages, ...pagination }).toMatchObject({
        ...{ messages: [], bounded: false, examined: 0, next_cursor: null, total: { value: 0, relation: 'eq' } },
      })
      expect(await get(`messages/facets?by=status&topic=${topic}`)).toMatchObject({
        ...{ found: 0, examined: 0, complete: true },
      })
    }
  })

  test('do not stand in the way of facets, nor are they counted, also those that claim the same topic', async () => {
    await database.sql`
      insert into dlq.dlq_messages (original_topic, dlq_topic, error_message, held_by_route)
      select 'orders', 'pay.dlq.v1', 'claimed', true from generate_series(1, 1000)`
    for (const filter of ['', `&group_id=${group}`, '&topic=orders', '&q=failed'])
      expect(await get(`messages/facets?by=status${filter}`), filter).toMatchObject({
        ...{ found: 1, examined: 1, complete: true },
      })
  })

  test('do not stand in the way of who failed lately', async () => {
    const { consumer_groups: groups } = await get('consumer-groups')
    expect(groups).toMatchObject([{ consumer_group: null, recent: 1, counts: { DEAD: 1 } }])
  })

  test('are passed over by facets up to a bound, and no figure says how many there are', async () => {
    await insertMany('pay', 5000)
    expect(await get(`messages/facets?by=status&group_id=${group}`)).toMatchObject({
      ...{ found: 0, examined: 0, complete: false },
    })
  })
})

test('an error group shows no words of a message of other topics where the place makes it', async () => {
  await insert(1, 'orders')
  await database.sql`
    insert into dlq.dlq_groups (id, version, error_class, message, title)
    values (${group}, 1, 'com.example.E', 'of the first message', 'E in Calls.take')`
  await database.sql`
    insert into dlq.dlq_group_topics (dlq_topic, group_id)
    values ('orders.dlq.v1', ${group}), ('payments.dlq.v1', ${group})`
  const messageOf = async () => (await get(`groups/${group}`)).message
  expect(await messageOf()).toBe('of the first message')
  await database.sql`update dlq.dlq_groups set location = 'com.example.Calls.take'`
  expect(await messageOf()).toBe('')
  expect((await get('groups')).groups).toMatchObject([{ id: group, message: '' }])
  await database.sql`delete from dlq.dlq_group_topics where dlq_topic = 'payments.dlq.v1'`
  expect(await messageOf()).toBe('of the first message')
})

test('figures have no claims of a DLQ topic whose routes are so many that some wait without a row', async () => {
  await insert(0, 'orders')
  await insert(1, 'orders-eu', { dlq_topic: 'evil.dlq.v1', consumer_group: 'evil', held_by_route: true })
  await database.sql`
    insert into dlq.dlq_routes (dlq_topic, original_topic, state)
    select 'evil.dlq.v1', 'made-up-' || n, 'waiting' from generate_series(1, 1000) n`
  try {
    for (const path of ['topics?kind=original', 'consumer-groups', 'status', 'messages', 'dlq-status'])
      expect(JSON.stringify(await get(path)), path).not.toMatch(/evil|orders-eu/)
    expect(await get('status')).toMatchObject({ counts: { PENDING: 1 } })
    expect(await get('messages?topic=orders-eu')).toMatchObject({
      messages: [],
      pagination: { total: { value: 0, relation: 'eq' } },
    })
    const { counts } = await readFleetChanges(service.sql, { since: null, known: [] })
    const heldOf = counts.map(({ original_topic, is_held }) => [original_topic, is_held])
    expect(Object.fromEntries(heldOf)).toEqual({ orders: false, 'orders-eu': true })
  } finally {
    await database.sql`delete from dlq.dlq_routes`
  }
})

test.each(
  ['dlq_messages', 'dlq_messages_archive'].flatMap((table) => [
    [table, 'by force while its route was closed', true] as const,
    [table, 'while its route was open', false] as const,
  ]),
)(
  'a message in %s that was sent %s is seen while the route is open, and then counted',
  async (table, _, held_by_route) => {
    await insert(0, 'orders', { dlq_topic: 'evil.dlq.v1', held_by_route, status: 'RESOLVED' })
    if (table !== 'dlq_messages') await database.sql`select dlq.archive_messages(array[${idAt(0)}]::uuid[])`
    const query = table === 'dlq_messages' ? 'messages?' : 'messages?archived=true&'
    const seen = async (state: string) => {
      await database.sql`
        insert into dlq.dlq_routes (dlq_topic, original_topic, state) values ('evil.dlq.v1', 'orders', ${state})
        on conflict (dlq_topic, original_topic) do update set state = excluded.state`
      const { messages, pagination } = await get(`${query}topic=orders`)
      return [messages.map(({ id }: { id: string }) => id), pagination.total.value]
    }
    try {
      for (const closed of ['waiting', 'blocked']) expect(await seen(closed)).toEqual([[], 0])
      for (const open of ['approved', 'by_mapping']) expect(await seen(open)).toEqual([[idAt(0)], 1])
    } finally {
      await database.sql`delete from dlq.dlq_routes`
    }
  },
)

test('a message does not tell the ids of others that the scope hides', async () => {
  await insert(1, 'payments')
  await insert(2, 'orders')
  await insert(3, 'orders', { related_to: idAt(1), successor_of: idAt(1) })
  await insert(4, 'orders', { related_to: idAt(2), successor_of: idAt(2) })
  const linksOf = async (minute: number) => {
    const { related_to, successor_of } = await get(`dlq/messages/${idAt(minute)}`)
    return { related_to, successor_of }
  }
  expect(await linksOf(3)).toEqual({ related_to: null, successor_of: null })
  expect(await linksOf(4)).toEqual({ related_to: idAt(2), successor_of: idAt(2) })
})

test('since when messages wait is said however many older claims of others there are', async () => {
  await insert(0, 'orders')
  await database.sql`
    insert into dlq.dlq_messages (id, original_topic, dlq_topic, error_message, held_by_route, created_at)
    select dlq.uuid_floor(to_timestamp(86400 + n)), 'orders', 'evil.dlq.v1', 'failed', true, to_timestamp(86400)
    from generate_series(1, 10001) n`
  await database.sql`insert into dlq.dlq_routes (dlq_topic, original_topic, state) values ('evil.dlq.v1', 'orders', 'waiting')`
  try {
    const waits = { oldest_pending_at: expect.stringContaining('20') }
    expect(await get('status')).toMatchObject({ ...waits, topics: [waits] })
    expect(await get('topics/orders?kind=original')).toMatchObject(waits)
    const scope = ['orders*']
    for (const [column, topic] of [
      ['dlq_topic', 'orders.dlq.v1'],
      ['original_topic', 'orders'],
    ] as const)
      expect(await oldestPendingOf(service.sql, { column, topics: [topic], scope })).toHaveProperty('size', 1)
  } finally {
    await database.sql`delete from dlq.dlq_routes`
  }
})
