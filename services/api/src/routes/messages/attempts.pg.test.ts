// The attempts of many messages, newest first.

import { type AttemptPlace, placeOf, searchAttempts } from 'dlq-core/queries/history/attempt-list.ts'
import { changingBetween } from 'dlq-testing/postgres/changing-between.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { nodesOf, partitionsWithRows, planCacheModes, plansOf } from 'dlq-testing/postgres/statement-plans.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { answerOf, createTestApp, lazyTestApp, type TestApp } from '../../test-app.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const request = lazyTestApp(service)
const limited: TestApp = (...call) =>
  createTestApp(service.sql, {
    authenticate: async () => ({ actor: 'l', grants: [{ role: 'read', topics: ['pay*'] }] }),
  })(...call)
const group = '00000000-0000-8000-8000-000000000001'

const noon = Date.parse('2026-02-20T12:00:00Z')
const insert = (columns = {}) =>
  insertMessageRow(database.sql, { original_topic: 'orders', dlq_topic: 'orders.dlq.v1', ...columns })
const attempt = (message_id: string, number: number, minutes: number | null, outcome = 'published') =>
  database.sql`
    insert into dlq.dlq_attempts ${database.sql({
      ...{ message_id, number, attempt_id: message_id, outcome },
      settled_at: minutes === null ? null : new Date(noon + minutes * 60_000),
    })}`

type Page = {
  attempts: { message_id: string; number: number; settled_at: string; outcome: string }[]
  pagination: { next_cursor: string | null; searched_to: string | null }
}
const list = async (query = '', app = request) => (await answerOf(app(`GET /api/v1/attempts?${query}`))).body as Page
const numbered = ({ attempts }: Page) => attempts.map(({ message_id, number }) => [message_id, number])

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_messages', 'dlq.dlq_attempts')
})

test('are listed with their messages, newest first, without those that are still to be made', async () => {
  const first = await insert({ consumer_group: 'billing', group_id: group, status: 'DEAD' })
  const second = await insert()
  await attempt(first, 1, 0, 'failed')
  await attempt(second, 1, 1)
  await attempt(first, 2, 2)
  await attempt(second, 2, null, 'requested')
  const page = await list()
  expect(numbered(page)).toEqual([
    [first, 2],
    [second, 1],
    [first, 1],
  ])
  expect(page.attempts[0]).toMatchObject({
    ...{ original_topic: 'orders', dlq_topic: 'orders.dlq.v1', consumer_group: 'billing', group_id: group },
    ...{ status: 'DEAD', outcome: 'published', settled_at: '2026-02-20T12:02:00.000+00:00' },
  })
  expect(page.pagination).toMatchObject({ next_cursor: null, searched_to: null })
})

test('are those of the filter, by outcome, and of the caller’s topics', async () => {
  const order = await insert({ group_id: group })
  const payment = await insert({ original_topic: 'payments', dlq_topic: 'payments.dlq.v1' })
  await attempt(order, 1, 0, 'failed')
  await attempt(order, 2, 1)
  await attempt(payment, 1, 2)
  expect(numbered(await list('topic=payments'))).toEqual([[payment, 1]])
  expect(numbered(await list(`group_id=${group}`))).toEqual([
    [order, 2],
    [order, 1],
  ])
  expect(numbered(await list('outcome=failed,unknown'))).toEqual([[order, 1]])
  expect(numbered(await list('', limited))).toEqual([[payment, 1]])
  expect(numbered(await list(`group_id=${group}`, limited))).toEqual([])
})

describe('pages', () => {
  const all = async (query: string) => {
    const seen: unknown[] = []
    let pages = 0
    for (let cursor: string | null = ''; cursor !== null; pages += 1) {
      const page: Page = await list(`${query}${cursor && `&cursor=${cursor}`}`)
      seen.push(...numbered(page))
      cursor = page.pagination.next_cursor
    }
    return { seen, pages }
  }

  test('follow each other, also through attempts of the same time', async () => {
    const id = await insert()
    for (let number = 1; number <= 5; number += 1) await attempt(id, number, number < 4 ? 0 : 1)
    const { seen, pages } = await all('limit=2')
    expect(seen).toEqual([5, 4, 3, 2, 1].map((number) => [id, number]))
    expect(pages).toBe(3)
    const { pagination } = await list('limit=2')
    expect(await answerOf(request(`GET /api/v1/attempts?topic=x&cursor=${pagination.next_cursor}`))).toMatchObject({
      status: 400,
    })
  })

  test('come to the end where a filter finds many messages, few of which were attempted', async () => {
    const wanted = await insert({ error_class: 'Rare' })
    await attempt(wanted, 1, -1)
    await database.sql`
      with messages as (
        insert into dlq.dlq_messages (original_topic, error_message, status)
        select 'others', 'failed', 'RESOLVED' from generate_series(1, 2500) returning id)
      insert into dlq.dlq_attempts (message_id, number, attempt_id, outcome, settled_at)
      select id, 1, id, 'published', now() from messages`
    const { seen, pages } = await all('error_class=Rare')
    expect(seen).toEqual([[wanted, 1]])
    expect(pages).toBe(3)
    expect((await list('error_class=Rare')).pagination.searched_to).not.toBeNull()
    // Few messages along an index: all at once.
    expect(await all('error_class=Rare&topic=orders')).toEqual({ seen: [[wanted, 1]], pages: 1 })
  })
})

test('a page skips none where others are deleted while it is read', async () => {
  const ids: string[] = []
  for (let n = 1; n <= 40; n += 1) {
    ids.push(await insert())
    await attempt(ids.at(-1)!, 1, -n, n === 15 || n === 35 ? 'failed' : 'published')
  }
  const sql = changingBetween(
    service.sql,
    () =>
      database.sql`delete from dlq.dlq_attempts where message_id = any(${database.sql.array(ids.slice(0, 8))}::uuid[])`,
  )
  const found: string[] = []
  for (let after: AttemptPlace | null = null; ; ) {
    const { attempts, examinedTo } = await searchAttempts(sql, {
      ...{ search: { filter: {}, topic: null, scope: null }, outcome: ['failed'], after, limit: 2, examine: 10 },
    })
    found.push(...attempts.map(({ message_id }) => message_id))
    if (examinedTo === null && attempts.length < 2) break
    after = examinedTo ?? placeOf(attempts.at(-1)!)
  }
  expect(found).toEqual([ids[14], ids[34]])
})

test('a filter whose messages grow beyond what is looked up one by one leaves no attempt out', async () => {
  const wanted = await insert({ group_id: group })
  await attempt(wanted, 1, 0)
  const more = () => database.sql`
    insert into dlq.dlq_messages (original_topic, dlq_topic, error_message, group_id, status)
    select 'orders', 'orders.dlq.v1', 'failed', ${group}, 'DEAD' from generate_series(1, 500)`
  const search = { filter: { group_id: group }, topic: null, scope: null }
  const page = { search, outcome: null, after: null, limit: 10, examine: 10 }
  const before = await searchAttempts(changingBetween(service.sql, more), page)
  const after = await searchAttempts(service.sql, page)
  for (const { attempts, examinedTo } of [before, after]) {
    expect(attempts.map(({ message_id }) => message_id)).toEqual([wanted])
    expect(examinedTo).toBeNull()
  }
})

test.each(planCacheModes)(
  'with %s, they are found along the index of their time, and never read as a whole',
  async (mode) => {
    await database.sql`
    with messages as (
      insert into dlq.dlq_messages (original_topic, error_message, status)
      select 'others', 'failed', 'RESOLVED' from generate_series(1, 20000) returning id)
    insert into dlq.dlq_attempts (message_id, number, attempt_id, outcome, settled_at)
    select id, 1, id, 'published', now() - random() * interval '1 day' from messages`
    await database.sql`vacuum analyze dlq.dlq_messages, dlq.dlq_attempts`
    const search = { filter: { error_class: 'none' }, topic: null, scope: null }
    const after = { at: '2999-01-01 00:00:00+00', messageId: 'ffffffff-ffff-ffff-ffff-ffffffffffff', number: 1 }
    const plans = await plansOf(database.url, mode, async (sql) => {
      await searchAttempts(sql, { search, outcome: ['failed'], after: null, limit: 51, examine: 100 })
      await searchAttempts(sql, { search, outcome: null, after, limit: 51, examine: 100 })
    })
    const tables = ['dlq_attempts', ...(await partitionsWithRows(database.sql))]
    const nodes = plans.flatMap(nodesOf)
    const read = nodes.filter((node) => tables.includes(node['Relation Name'] ?? ''))
    expect(read.length).toBeGreaterThan(2)
    expect(read.map((node) => node['Node Type']).filter((type) => !/^Index (Only )?Scan$/.test(type))).toEqual([])
    expect(read.some((node) => node['Index Name'] === 'idx_dlq_attempts_settled')).toBe(true)
  },
)
