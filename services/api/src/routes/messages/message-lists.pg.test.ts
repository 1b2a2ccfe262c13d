// Lists and exports by filter. The tests of the queries check what a filter finds (dlq-core, message-search.pg.test.ts).

import { randomBytes } from 'node:crypto'
import { recordTopics } from 'dlq-core/queries/ingest/topics.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { createCursorSeal } from '../../lists/cursor-seal.ts'
import { findPage } from '../../lists/find-page.ts'
import { answerOf, createTestApp, lazyTestApp } from '../../test-app.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const seal = createCursorSeal(undefined)
const request = lazyTestApp(service)
const insert = (columns = {}) => insertMessageRow(database.sql, columns)

type PageBody = {
  messages: { id: string; payload: unknown }[]
  pagination: {
    total: { value: number; relation: string } | null
    next_cursor: string | null
    prev_cursor: string | null
    bounded: boolean
    searched_to: string | null
    examined: number
    payloads_deferred?: true
  }
}
const list = async (path: string) => (await answerOf(request(`GET /api/v1/${path}`))).body as PageBody
const ids = ({ messages }: PageBody) => messages.map(({ id }) => id)

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_messages', 'dlq.dlq_topics')
})

describe.each(['messages?topic=orders.events.v1&', 'dlq/orders.events.v1?'])('a list at %s', (path) => {
  test('is paged by cursors both ways, newest first, with a total on its first page', async () => {
    const inserted: string[] = []
    for (let n = 0; n < 7; n += 1) inserted.push(await insert())
    const newestFirst = inserted.toSorted().toReversed()

    const first = await list(`${path}limit=3`)
    expect(ids(first)).toEqual(newestFirst.slice(0, 3))
    expect(first.pagination).toMatchObject({
      total: { value: 7, relation: 'eq' },
      limit: 3,
      prev_cursor: null,
      bounded: false,
    })
    const second = await list(`${path}limit=3&cursor=${first.pagination.next_cursor}`)
    expect(ids(second)).toEqual(newestFirst.slice(3, 6))
    expect(second.pagination.total).toBe(null)
    const third = await list(`${path}limit=3&cursor=${second.pagination.next_cursor}`)
    expect(ids(third)).toEqual(newestFirst.slice(6))
    expect(third.pagination.next_cursor).toBe(null)

    const back = await list(`${path}limit=3&cursor=${third.pagination.prev_cursor}`)
    expect(ids(back)).toEqual(newestFirst.slice(3, 6))
    const start = await list(`${path}limit=3&cursor=${back.pagination.prev_cursor}`)
    expect(ids(start)).toEqual(newestFirst.slice(0, 3))
    expect(start.pagination.prev_cursor).toBe(null)
    expect(ids(await list(`${path}limit=3&cursor=${start.pagination.next_cursor}`))).toEqual(newestFirst.slice(3, 6))
  })

  test('has further fields for operators beside the specification’s', async () => {
    await insert({
      payload: { order_id: '123' },
      dlq_topic: 'orders.dlq.v1',
      dlq_offset: '9007199254740993',
      consumer_group: 'billing',
      error_class: 'com.example.Late',
    })
    const { messages } = await list(`${path}status=PENDING`)
    expect(messages).toMatchObject([
      {
        payload: { order_id: '123' },
        dlq_offset: '9007199254740993',
        consumer_group: 'billing',
        error_class: 'com.example.Late',
      },
    ])
  })
})

test('a cursor of another filter or sort, or no cursor, is refused', async () => {
  for (let n = 0; n < 3; n += 1) await insert()
  const { pagination } = await list('messages?status=PENDING&limit=1')
  const cursor = pagination.next_cursor
  for (const query of [
    `status=DEAD&cursor=${cursor}`,
    `status=PENDING&sort=oldest&cursor=${cursor}`,
    `cursor=${cursor}`,
  ]) {
    expect(await answerOf(request(`GET /api/v1/messages?${query}`)), query).toMatchObject({
      status: 400,
      body: { error: { details: [{ field: 'cursor', message: expect.stringContaining('another filter') }] } },
    })
  }
  expect(await answerOf(request('GET /api/v1/messages?cursor=nonsense'))).toMatchObject({
    status: 400,
    body: { error: { details: [{ field: 'cursor', message: expect.stringContaining('invalid cursor') }] } },
  })
  // The page size is not a part of the filter.
  expect((await answerOf(request(`GET /api/v1/messages?status=PENDING&limit=2&cursor=${cursor}`))).status).toBe(200)
})

test('a cursor is refused where a glob matches so many topics meanwhile that the list has another order', async () => {
  for (let n = 0; n < 4; n += 1) await insert({ original_topic: `glob-${n}` })
  const filter = 'topic=glob-*&from=2020-01-01T00:00:00Z&limit=1'
  const { pagination } = await list(`messages?${filter}`)
  const next = () => answerOf(request(`GET /api/v1/messages?${filter}&cursor=${pagination.next_cursor}`))
  expect((await next()).status).toBe(200)
  await insert({ original_topic: 'glob-4' })
  expect(await next()).toMatchObject({
    status: 400,
    body: { error: { details: [{ field: 'cursor', message: expect.stringContaining('another order') }] } },
  })
})

test.each([
  ['limit=0', 'limit'],
  ['limit=1000000000', 'limit'],
  ['limit=1&limit=2', 'limit'],
  ['sort=random', 'sort'],
  ['status=LOST', 'status'],
  ['group_id=x', 'group_id'],
  ['payload={', 'payload'],
  ['from=2026-02-02&to=2026-02-01', 'to'],
  ['archived=true&sort=next_due', 'sort'],
  ['colour=red', 'colour'],
])('GET /messages?%s answers 400 and names the field', async (query, field) => {
  expect(await answerOf(request(`GET /api/v1/messages?${query}`))).toMatchObject({
    status: 400,
    body: { error: { code: 'SYS_DLQ_VALIDATION_ERROR', details: [{ field }] } },
  })
})

test('pages by number go through a whole topic, so a filter beside them is refused', async () => {
  expect(await answerOf(request('GET /api/v1/dlq/orders?page=1&status=DEAD'))).toMatchObject({
    status: 400,
    body: { error: { details: [{ field: 'page' }] } },
  })
})

test('a name with wildcards in a path is a name', async () => {
  const id = await insert({ original_topic: 'odd*' })
  await insert({ original_topic: 'odd-one' })
  expect(await list('dlq/odd*')).toMatchObject({ messages: [{ id }], pagination: { total_count: 1 } })
})

test('a page that had to read too many rows says so, and its cursor continues behind them', async () => {
  for (let n = 0; n < 30; n += 1) await insert({ consumer_group: n === 3 ? 'rare' : 'usual' })
  const search = { filter: { consumer_group: 'rare' }, topic: null, scope: null, sort: 'newest' as const }
  const signal = new AbortController().signal
  const pages = []
  for (let cursor: string | undefined; ; ) {
    const page = await findPage(service.sql, {
      ...{ search, seal },
      cursor,
      limit: 20,
      signal,
      effort: { examine: 21, budgetMs: 0 },
    })
    pages.push(page)
    if (page.nextCursor === null) break
    cursor = page.nextCursor
  }
  expect(pages.map(({ rows, bounded }) => [rows.length, bounded])).toEqual([
    [0, true],
    [1, false],
  ])

  const patient = { examine: 21, budgetMs: 60_000 }
  const whole = await findPage(service.sql, { search, seal, cursor: undefined, limit: 20, signal, effort: patient })
  expect([whole.rows.length, whole.bounded]).toEqual([1, false])
})

describe('an export', () => {
  const exported = async (query: string) => {
    const response = await request(`GET /api/v1/messages/export?${query}`)
    expect(response.status).toBe(200)
    return { response, text: await response.text() }
  }

  test('holds every message of the filter, over many pages', async () => {
    await database.sql`
      insert into dlq.dlq_messages (original_topic, error_message, status)
      select 'orders', 'e', case when n % 3 = 0 then 'DEAD' else 'PENDING' end from generate_series(1, 1700) n`
    const stored = await database.sql<
      { id: string }[]
    >`select id from dlq.dlq_messages where status = 'PENDING' order by id desc`

    const ndjson = await exported('status=PENDING')
    const lines = ndjson.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).id)
    expect(lines).toEqual(stored.map(({ id }) => id))
    expect(ndjson.response.headers.get('content-type')).toBe('application/x-ndjson')
    expect(ndjson.response.headers.get('content-disposition')).toBe('attachment; filename="dead-letters.ndjson"')

    const json = await exported('status=PENDING&format=json&sort=oldest')
    expect(JSON.parse(json.text).map(({ id }: { id: string }) => id)).toEqual(stored.map(({ id }) => id).toReversed())

    const csv = await exported('status=PENDING&format=csv')
    expect(csv.text.split('\r\n')).toHaveLength(stored.length + 2)
    expect(csv.response.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present')
  })

  test('holds what stands behind more messages than one statement looks at', async () => {
    const add = (retries: number, count: number) => database.sql`
      insert into dlq.dlq_messages (original_topic, error_message, retry_count)
      select 'orders', 'e', ${retries} from generate_series(1, ${count}::int)`
    for (const [retries, count] of [
      [1, 1],
      [0, 20_010],
      [2, 1],
    ] as const)
      await add(retries, count)
    const { text } = await exported('retry_count_min=1&format=json')
    expect(JSON.parse(text)).toMatchObject([{ retry_count: 2 }, { retry_count: 1 }])
  })

  test('without messages is an empty file of its format', async () => {
    expect((await exported('')).text).toBe('')
    expect(JSON.parse((await exported('format=json')).text)).toEqual([])
    expect((await exported('format=csv')).text).toMatch(/^id,original_topic,[\w,]+,payload\r\n$/)
  })

  test('keeps the digits of numbers, and escapes formulas for spreadsheets', async () => {
    await database.sql`
      insert into dlq.dlq_messages (original_topic, error_message, payload)
      values ('orders', '=cmd|'' /C calc''!A1', '{"n": 12345678901234567890.12}')`
    expect((await exported('')).text).toContain('12345678901234567890.12')
    const { text } = await exported('format=csv')
    expect(text).toContain(`"'=cmd|' /C calc'!A1"`)
    expect(text).toContain(`"{""n"": 12345678901234567890.12}"`)
  })
})

test('a total is exact where the summary has the filter’s fields, and otherwise counted up to a bound', async () => {
  const group_id = '00000000-0000-8000-8000-000000000001'
  await database.sql`
    insert into dlq.dlq_messages (original_topic, dlq_topic, consumer_group, group_id, error_message, status)
    select 'orders', 'orders.dlq.v1', 'billing', ${group_id}, 'e', case when n % 4 = 0 then 'DEAD' else 'PENDING' end
    from generate_series(1, 10100) n`
  const totalOf = async (query: string) => (await list(`messages?limit=1${query}`)).pagination.total
  for (const query of [
    '',
    '&topic=orders',
    '&topic=orders*',
    '&topic=*.dlq.v1',
    '&consumer_group=billing',
    `&group_id=${group_id}`,
  ])
    expect(await totalOf(query), query).toEqual({ value: 10_100, relation: 'eq' })
  expect(await totalOf('&topic=orders&status=DEAD&consumer_group=billing')).toEqual({
    value: 2525,
    relation: 'eq',
  })
  expect(await totalOf('&consumer_group=none')).toEqual({ value: 0, relation: 'eq' })
  expect(await totalOf('&status=RESOLVED&retry_count_min=0')).toEqual({ value: 0, relation: 'eq' })
  expect(await totalOf('&status=DEAD&retry_count_min=0')).toEqual({ value: 1000, relation: 'gte' })
  expect(await totalOf('&retry_count_min=0')).toEqual({ value: 1000, relation: 'gte' })
  // One statement looks at all of these rows for the page, so it knows that there are no others.
  expect(await totalOf('&status=DEAD&q=nothing')).toEqual({ value: 0, relation: 'eq' })
  expect(await list('dlq/orders')).toMatchObject({ pagination: { total_count: 10_100 } })

  // Before the first full count, no total is shown as exact.
  await database.sql`update dlq.dlq_summary_state set counted_at = null`
  try {
    expect(await totalOf('&topic=orders')).toEqual({ value: 10_000, relation: 'gte' })
    expect(await list('dlq/orders')).toMatchObject({ pagination: { total_count: 10_100 } })
  } finally {
    await database.sql`update dlq.dlq_summary_state set counted_at = now()`
  }
})

describe('previews', () => {
  const preview = async (columns: object) => {
    await emptyTables(database.sql, 'dlq.dlq_messages')
    await insert(columns)
    return (await list('messages?show=preview')).messages[0] as unknown as Record<string, unknown>
  }
  const record = (record_value: Buffer | null, more = {}) => ({
    record_value,
    record_headers: [],
    payload: null,
    ...more,
  })

  test('show the beginning of the value instead of the payload, and key, size, edits and run', async () => {
    const run_id = '00000000-0000-4000-8000-000000000001'
    const columns = { record_key: Buffer.from('k1'), edits: 2, run_id, target_topic: 'elsewhere' }
    const shown = await preview(record(Buffer.from(`{"n":12345678901234567890.12}`), columns))
    expect(shown).toMatchObject({
      ...{ preview: '{"n":12345678901234567890.12}', value_bytes: 29, key: { value: 'k1', encoding: 'text' } },
      ...{ edits: 2, run_id, target_topic: 'elsewhere' },
    })
    expect(Object.keys(shown)).not.toContain('payload')
    expect((await list('dlq/orders.events.v1?show=preview')).messages[0]).toMatchObject({ value_bytes: 29 })
    expect(Object.keys((await list('messages')).messages[0]!)).not.toContain('preview')
  })

  test('end after 300 characters, also where the bytes end within one', async () => {
    expect(await preview(record(Buffer.from('ü'.repeat(1000))))).toMatchObject({ preview: 'ü'.repeat(300) })
    expect(await preview(record(Buffer.from(`a${'語'.repeat(1000)}`)))).toMatchObject({
      preview: `a${'語'.repeat(299)}`,
    })
    expect(await preview(record(Buffer.from(`a${'😀'.repeat(400)}`)))).toMatchObject({
      preview: `a${'😀'.repeat(299)}`,
    })
  })

  test('are null for bytes that are no text, for no value, and for one that is large on the disk', async () => {
    expect(await preview(record(Buffer.from([0, 0, 0, 0, 42, 8])))).toMatchObject({ preview: null, value_bytes: 6 })
    expect(await preview(record(null))).toMatchObject({ preview: null, value_bytes: null })
    const large = randomBytes(200_000).toString('hex')
    expect(await preview(record(Buffer.from(large)))).toMatchObject({ preview: null, value_bytes: 400_000 })
  })

  test('are the payload as text for a message without a record', async () => {
    expect(await preview({ payload: { order_id: '1' } })).toMatchObject({ preview: '{"order_id": "1"}', key: null })
  })
})

test('a bounded page says how far the search has come, and how many rows it looked at', async () => {
  const at = (minute: number) => `0198${String(minute).padStart(4, '0')}-0000-7000-8000-000000000000`
  for (let minute = 0; minute < 10; minute += 1)
    await insert({ id: at(minute), error_class: minute === 0 ? 'Rare' : 'E' })
  const search = { filter: { error_class: 'Rare' }, topic: null, scope: null, sort: 'newest' as const }
  const effort = { examine: 3, budgetMs: 0 }
  const signal = new AbortController().signal
  const page = await findPage(service.sql, { search, seal, cursor: undefined, limit: 1, signal, effort })
  expect(page).toMatchObject({ rows: [], bounded: true, examined: 3, searchedTo: new Date(0x0198_0007_0000) })
  const further = await findPage(service.sql, {
    ...{ search, seal, cursor: undefined, limit: 2, signal, effort: { examine: 3, budgetMs: 60_000 } },
  })
  // The rows of the statement that came to the end of the list are those that it found.
  expect(further).toMatchObject({ rows: [{ id: at(0) }], bounded: false, examined: 10, searchedTo: null })
  const whole = await list('messages?error_class=Rare')
  expect(whole.pagination).toMatchObject({ searched_to: null, bounded: false })
})

test('a filter by payload says where payloads are still to be stored', async () => {
  await insert()
  const deferred = async (query: string) => (await list(`messages?${query}`)).pagination.payloads_deferred
  const filter = `payload=${encodeURIComponent('{"order_id":"1"}')}`
  expect(await deferred(filter)).toBeUndefined()
  await database.sql`
    insert into dlq.dlq_deferred_payloads (cluster, topic, partition, from_id, until_id)
    values ('c', 'orders.dlq.v1', 0, gen_random_uuid(), gen_random_uuid())`
  expect(await deferred(filter)).toBe(true)
  expect(await deferred('limit=1')).toBeUndefined()
  await emptyTables(database.sql, 'dlq.dlq_deferred_payloads')
})

test('a list neither shows nor counts messages of topics outside the scope', async () => {
  await recordTopics(service.sql, { cluster: 'c', found: [{ topic: 'pay.dlq.v1', topic_id: null, partitions: 1 }] })
  const mine = await insert({ original_topic: 'pay.in', dlq_topic: 'pay.dlq.v1' })
  await insert({ original_topic: 'orders.in', dlq_topic: 'orders.dlq.v1' })
  const authenticate = async () => ({ actor: 'limited', grants: [{ role: 'read' as const, topics: ['pay.*'] }] })
  const limited = createTestApp(service.sql, { authenticate })
  for (const path of [
    'messages',
    'messages?topic=*',
    'messages?status=PENDING',
    'dlq/pay.in',
    'dlq/pay.dlq.v1?limit=9',
  ]) {
    const { body } = await answerOf(limited(`GET /api/v1/${path}`))
    expect(ids(body as PageBody), path).toEqual([mine])
  }
  expect((await answerOf(limited('GET /api/v1/messages'))).body).toMatchObject({ pagination: { total: { value: 1 } } })
  expect((await answerOf(limited('GET /api/v1/dlq/orders.in'))).body).toMatchObject({
    messages: [],
    pagination: { total_count: 0 },
  })
  expect((await (await limited('GET /api/v1/messages/export')).text()).trim().split('\n')).toHaveLength(1)
})
