// What a page holds of large payloads and error texts, and that it is complete all the same.

import { createMasks } from 'dlq-core/domain/masks/create-masks.ts'
import { searchMessages } from 'dlq-core/queries/reading/message-search.ts'
import { resolveTopic } from 'dlq-core/queries/reading/message-topic.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, expect, test } from 'vitest'
import { createTestApp, lazyTestApp } from '../test-app.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const request = lazyTestApp(service)
type PageBody = { messages: { payload: unknown }[] }

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_messages', 'dlq.dlq_topics')
})

test('large payloads are complete, in pages of both kinds', async () => {
  const text = 'x'.repeat(300_000)
  for (const n of [1, 2]) {
    const value = `{"n":${n}12345678901234567890.5,"text":"${text}"}`
    await database.sql`
      insert into dlq.dlq_messages (original_topic, error_message, record_value, payload)
      values ('large', 'e', ${Buffer.from(value)}, ${value}::text::jsonb)`
  }
  await database.sql`
    insert into dlq.dlq_messages (original_topic, error_message, record_value)
    values ('large', 'derived', ${Buffer.from(`{"text":"${text}"}`)})`
  for (const path of ['dlq/large', 'dlq/large?limit=5']) {
    const response = await request(`GET /api/v1/${path}`)
    const body = await response.text()
    expect(body).toContain('212345678901234567890.5')
    expect(
      (JSON.parse(body) as PageBody).messages.map(({ payload }) => (payload as { text: string }).text.length),
    ).toEqual([300_000, 300_000, 300_000])
  }
  const ids = await database.sql<{ id: string }[]>`
    update dlq.dlq_messages set status = 'RESOLVED' where original_topic = 'large' returning id`
  await database.sql`
    select dlq.archive_messages(${database.sql.array(ids.map(({ id }) => id))}::uuid[], now() + interval '1 hour')`
  for (const path of ['messages?archived=true&topic=large', 'messages/export?archived=true&topic=large&format=json']) {
    const body = JSON.parse(await (await request(`GET /api/v1/${path}`)).text())
    const messages: { payload: { text: string } }[] = body.messages ?? body
    expect(
      messages.map(({ payload }) => payload.text.length),
      path,
    ).toEqual([300_000, 300_000, 300_000])
  }
})

test('a long page holds megabytes of payloads and error texts at most, and shows all of them', async () => {
  const error = 'e'.repeat(6000)
  await database.sql`
    insert into dlq.dlq_messages (original_topic, error_message, payload, record_value)
    select 'long', case when n % 3 = 0 then ${error} else 'short' end,
           case when n % 3 = 1 then jsonb_build_object('text', repeat(md5(n::text), 300)) else '{"text":""}' end,
           case when n % 50 = 1 then convert_to(repeat('x', 40000), 'UTF8') end
    from generate_series(1, 400) n`
  const topic = await resolveTopic(service.sql, 'long')
  const search = { filter: { topic: 'long' }, topic, scope: null, sort: 'newest' as const }
  const { rows } = await searchMessages(service.sql, { search, after: null, limit: 1000, examine: 1000 })
  for (const { payload, error_message } of rows)
    expect((payload ?? '').length + error_message.length).toBeLessThan(4300)
  // As exports read.
  const asked = { search, after: null, limit: 250, examine: 1000, pageBytes: 1024 * 1024 }
  const page = await searchMessages(service.sql, asked)
  expect(page.rows.some(({ large }) => large)).toBe(true)
  for (const { payload, error_message } of page.rows)
    expect((payload ?? '').length + error_message.length).toBeLessThan(4300)
  const { messages } = (await (await request('GET /api/v1/messages?topic=long&limit=1000')).json()) as {
    messages: { payload: { text: string }; error_message: string }[]
  }
  const lengths = messages.map(({ payload, error_message }) => `${payload.text.length} ${error_message.length}`)
  expect(lengths.filter((length) => length === '0 6000')).toHaveLength(133)
  expect(lengths.filter((length) => length === '9600 5')).toHaveLength(134)
  expect(lengths.filter((length) => length === '0 5')).toHaveLength(133)
  const text = await (await request('GET /api/v1/messages/export?topic=long')).text()
  expect(
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).payload.text.length)
      .toSorted(),
  ).toEqual(messages.map(({ payload }) => payload.text.length).toSorted())
})

test.each([
  ['what repeats', `'"' || repeat('x', 2000000) || '"'`],
  ['exponents', `'[' || repeat('1e131071,', 20) || '0]'`],
])('a payload of %s is large by its text, and read alone', async (_, json) => {
  await database.sql.unsafe(`
    insert into dlq.dlq_messages (original_topic, error_message, payload) values ('packed', 'e', (${json})::jsonb)`)
  const [stored] = await database.sql`select pg_column_size(payload) as bytes from dlq.dlq_messages`
  expect(stored!.bytes).toBeLessThan(32 * 1024)
  const topic = await resolveTopic(service.sql, 'packed')
  const search = { filter: { topic: 'packed' }, topic, scope: null, sort: 'newest' as const }
  const { rows } = await searchMessages(service.sql, { search, after: null, limit: 5, examine: 5 })
  expect(rows).toMatchObject([{ large: true, payload: null }])
  const response = await request('GET /api/v1/messages?topic=packed')
  expect(((await response.json()) as PageBody).messages[0]!.payload).not.toBeNull()
})

test('previews, attempts and the messages of a run hold the beginnings of long texts and keys', async () => {
  const { sql } = database
  const long = `${'e'.repeat(2990)} a@b.example ${'e'.repeat(60_000)}`
  const key = Buffer.alloc(100_000, 'k')
  const [run] = await sql`
    insert into dlq.dlq_runs (kind, actor, selection, until_id, matched, matched_relation)
    values ('dead', 'ann', '{"filter":{}}', gen_random_uuid(), 1, 'eq') returning id`
  const row = { original_topic: 'long', error_message: long, record_key: key, run_id: run!.id }
  const id = await insertMessageRow(sql, row)
  await sql`
    insert into dlq.dlq_attempts (message_id, number, attempt_id, actor, run_id, outcome, error, settled_at, failed_again_at, failed_again_message)
    values (${id}, 1, gen_random_uuid(), 'ann', ${run!.id}, 'published', ${long}, now(), now(), ${long})`
  const paths = [
    'messages?topic=long&show=preview',
    'attempts?topic=long',
    `dlq/messages/${id}/attempts`,
    `runs/${run!.id}/items?show=message&outcome=waiting`,
    `runs/${run!.id}/items?outcome=failed_again`,
  ]
  const masks = createMasks([{ topics: ['*'], key: 'show', headers: [], errors: ['email'] }], undefined)
  const masked = createTestApp(service.sql, { masks })
  for (const path of paths) {
    const text = await (await request(`GET /api/v1/${path}`)).text()
    expect(text, path).toContain(`"${'e'.repeat(2990)} a@b.example ${'e'.repeat(997)}"`)
    expect(text.length, path).toBeLessThan(16_000)
    // What is cut may be cut in the middle of what a mask hides.
    expect(await (await masked(`GET /api/v1/${path}`)).text(), path).toContain(`"${'e'.repeat(2990)} •••"`)
  }
  const detail = await (await masked(`GET /api/v1/dlq/messages/${id}`)).text()
  expect(detail).toContain(`"${'e'.repeat(2990)} ••• ${'e'.repeat(60_000)}"`)
})

test('a list of runs shows no large patch, and how many ids each names', async () => {
  const { sql } = database
  await emptyTables(sql, 'dlq.dlq_runs')
  const patch = (chars: number) => JSON.stringify([{ op: 'add', path: '/a', value: 'x'.repeat(chars) }])
  const selection = JSON.stringify({ ids: Array.from({ length: 3 }, () => crypto.randomUUID()) })
  for (const chars of [10, 5000])
    await sql`
      insert into dlq.dlq_runs (kind, status, actor, selection, until_id, matched, matched_relation, patch)
      values ('edit', 'running', 'ann', ${selection}::text::json, gen_random_uuid(), 1, 'eq', ${patch(chars)}::text::json)`
  type Run = { id: string; patch: unknown; selection: object }
  const read = async (path: string) => (await request(`GET /api/v1/${path}`)).json()
  const { runs } = (await read('runs')) as { runs: Run[] }
  expect(runs.map((run) => [run.patch, run.selection])).toEqual([
    [null, { ids: 3 }],
    [JSON.parse(patch(10)), { ids: 3 }],
  ])
  expect(await read(`runs/${runs[0]!.id}`)).toMatchObject({ patch: JSON.parse(patch(5000)), selection: { ids: 3 } })
})

test('whoever reads no export to its end cannot begin any number of them', async () => {
  await database.sql`
    insert into dlq.dlq_messages (original_topic, error_message)
    select 'unread', repeat('e', 2000) from generate_series(1, 200)`
  const app = createTestApp(service.sql)
  const begin = () => app('GET /api/v1/messages/export?topic=unread')
  const begun = await Promise.all(Array.from({ length: 30 }, begin))
  expect(begun.filter(({ status }) => status === 200)).toHaveLength(20)
  expect(begun.filter(({ status }) => status === 429)).toHaveLength(10)
  for (const { status, body } of begun) if (status === 200) await body!.cancel()
  expect((await (await begin()).text()).trim().split('\n')).toHaveLength(200)
})
