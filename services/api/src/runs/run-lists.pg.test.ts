// Lists of runs by filter and cursor, and the messages of one run.

import { describe, expect, test } from 'vitest'
import { answerOf } from '../test-app.ts'
import type { RunJson } from './run-json.ts'
import { orders, useRuns } from './test-run-requests.ts'
import { workOnRuns } from './test-runs.ts'

const { database, service, request, insert, begin } = useRuns()

type List = { runs: RunJson[]; total_count: number; next_cursor: string | null }
const list = async (query: string) => (await answerOf(request(`GET /api/v1/runs?${query}`))).body as List

describe('the list of runs', () => {
  test('is filtered by several statuses, group, actor and target topic', async () => {
    const group = '1c9e5a3c-6d7e-8f00-a1b2-c3d4e5f60718'
    const plain = await begin({})
    const ofGroup = await begin({ selection: { group } })
    const redirect = await begin({ kind: 'redirect', target_topic: 'elsewhere' })
    await database.sql`update dlq.dlq_runs set status = 'paused' where id = ${plain}`
    await database.sql`update dlq.dlq_runs set status = 'running' where id = ${ofGroup}`
    const idsOf = async (query: string) => (await list(query)).runs.map(({ id }) => id)
    expect(await idsOf('status=paused,running')).toEqual([ofGroup, plain])
    expect(await idsOf('status=paused&status=queued')).toEqual([redirect, plain])
    expect(await idsOf(`group_id=${group}`)).toEqual([ofGroup])
    expect(await idsOf('target_topic=elsewhere')).toEqual([redirect])
    expect(await idsOf('actor=anonymous')).toHaveLength(3)
    expect(await idsOf('actor=nobody')).toEqual([])
    expect((await request('GET /api/v1/runs?status=lost')).status).toBe(400)
  })

  test('continues along a cursor, whatever began since', async () => {
    const ids = []
    for (let n = 0; n < 5; n += 1) ids.unshift(await begin({}))
    const first = await list('page_size=2')
    await begin({})
    const second = await list(`page_size=2&cursor=${first.next_cursor}`)
    const third = await list(`page_size=2&cursor=${second.next_cursor}`)
    expect([first, second, third].flatMap(({ runs }) => runs.map(({ id }) => id))).toEqual(ids)
    expect(third.next_cursor).toBeNull()
    expect((await request(`GET /api/v1/runs?page_size=2&kind=edit&cursor=${first.next_cursor}`)).status).toBe(400)
    expect((await request(`GET /api/v1/runs?page=2&cursor=${first.next_cursor}`)).status).toBe(400)
  })
})

test('the messages of a run are paged both ways, counted by outcome, and described where asked for', async () => {
  const good = []
  for (let n = 0; n < 3; n += 1)
    good.push(await insert({ record_key: Buffer.from(`key ${n}`), consumer_group: 'billing', error_class: 'com.Down' }))
  good.sort()
  const dead = await insert({ status: 'DEAD' })
  const id = await begin({ selection: { ids: [...good, dead] } })
  await workOnRuns(service.sql)
  type Items = { items: { id: string }[]; next_after: string | null; previous_before: string | null; counts: object }
  const items = async (query: string) =>
    (await answerOf(request(`GET /api/v1/runs/${id}/items?outcome=waiting&limit=2${query}`))).body as Items
  const first = await items('')
  expect(first).toMatchObject({
    items: [
      { id: good[0], detail: 'pending' },
      { id: good[1], detail: 'pending' },
    ],
    counts: { waiting: 3, resolved: 0, failed: 0, failed_again: 0, skipped: 1 },
    next_after: good[1],
    previous_before: null,
  })
  const second = await items(`&after=${first.next_after}`)
  expect(second).toMatchObject({ items: [{ id: good[2] }], next_after: null, previous_before: good[2] })
  const back = await items(`&before=${second.previous_before}`)
  expect(back).toMatchObject({ items: [{ id: good[0] }, { id: good[1] }], next_after: good[1], previous_before: null })
  expect(first.items[0]).not.toHaveProperty('message')
  const keys = (await items('&show=message')).items.map((item) => (item as { message?: object }).message)
  expect(keys[0]).toMatchObject({
    ...{ original_topic: orders.filter.topic, consumer_group: 'billing', error_class: 'com.Down', status: 'PENDING' },
    key: { value: expect.stringMatching(/^key \d$/), encoding: 'text' },
  })
  await database.sql`delete from dlq.dlq_messages where id = ${dead}`
  const skipped = (await answerOf(request(`GET /api/v1/runs/${id}/items?outcome=skipped&show=message`))).body
  expect(skipped).toMatchObject({ items: [{ id: dead, outcome: 'skipped', detail: 'dead', message: null }] })
})

test('the messages of a run are asked for by what became of them, page by page', async () => {
  const ids = []
  for (let n = 0; n < 7; n += 1) ids.push(await insert({ consumer_group: 'billing' }))
  ids.sort()
  const id = await begin({ selection: { ids } })
  await database.sql`
    insert into dlq.dlq_readers (target_topic, consumer_group, state, members, horizon)
    values ('orders', 'billing', 'Stable', 1, '1 s')`
  await database.sql`
    insert into dlq.dlq_reader_partitions (
      target_topic, consumer_group, partition, committed_offset, log_start_offset, log_end_offset, passed_offset)
    values ('orders', 'billing', 0, 3, 0, 9, 3)`
  for (const [offset, message] of ids.entries()) {
    await database.sql`
      insert into dlq.dlq_attempts ${database.sql({
        ...{ message_id: message, number: 1, attempt_id: crypto.randomUUID(), run_id: id, outcome: 'published' },
        ...{ target_topic: 'orders', target_partition: 0, target_offset: offset, settled_at: new Date() },
        // The commit of the sixth was not answered, and yet it was sent.
        ...(offset >= 5 && { outcome: 'failed', error: 'no answer' }),
        ...([4, 5].includes(offset) && { failed_again_at: new Date(), failed_again_message: 'down again' }),
      })}`
  }
  type Items = { items: object[]; next_after: string | null; previous_before: string | null }
  const items = async (query: string) =>
    (await answerOf(request(`GET /api/v1/runs/${id}/items?${query}`))).body as Items
  const first = await items('verdict=passed&limit=2')
  expect(first).toMatchObject({
    items: [
      { id: ids[0], outcome: 'resolved', verdict: 'passed', verdict_reason: null },
      { id: ids[1], verdict: 'passed' },
    ],
    next_after: ids[1],
  })
  const second = await items(`verdict=passed&limit=2&after=${ids[1]}`)
  expect(second).toMatchObject({ items: [{ id: ids[2] }], next_after: null, previous_before: ids[2] })
  expect((await items(`verdict=passed&limit=2&before=${ids[2]}`)).items).toEqual(first.items)
  expect((await items('verdict=sent')).items).toMatchObject([{ id: ids[3] }])
  const cameBack = ids.slice(4, 6).map((id) => ({ id, outcome: 'failed_again', detail: 'down again' }))
  expect((await items('verdict=came_back')).items).toMatchObject(cameBack)
  // By its outcome each message is listed once.
  expect((await items('outcome=resolved')).items).toMatchObject(ids.slice(0, 4).map((id) => ({ id })))
  expect((await items('outcome=failed_again')).items).toMatchObject(cameBack)
  expect((await items('outcome=failed')).items).toMatchObject([{ id: ids[6], detail: 'no answer' }])
  expect((await items('')).items).toHaveLength(7)
  expect((await request(`GET /api/v1/runs/${id}/items?verdict=passed&outcome=resolved`)).status).toBe(400)
})

test('a verdict is looked for among twenty thousand messages at a time, in both directions', async () => {
  const run = await begin({ selection: { ids: [await insert({})] } })
  const idOf = (n: number) => `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`
  await database.sql`
    insert into dlq.dlq_attempts (message_id, number, attempt_id, run_id, outcome, settled_at, failed_again_at)
    select id::uuid, 1, id::uuid, ${run}, 'published', now(), case when n = 20001 then now() end
    from generate_series(1, 20001) n cross join lateral (select '00000000-0000-7000-8000-' || lpad(n::text, 12, '0') as id) ids`
  const items = async (query: string) =>
    (await answerOf(request(`GET /api/v1/runs/${run}/items?verdict=came_back${query}`))).body
  expect(await items('')).toMatchObject({ items: [], next_after: idOf(20_000), previous_before: null })
  const found = { items: [{ id: idOf(20_001) }] }
  expect(await items(`&after=${idOf(20_000)}`)).toMatchObject({ ...found, next_after: null })
  expect(await items(`&before=${idOf(20_002)}`)).toMatchObject({ ...found, previous_before: idOf(2) })
})
