// Error groups, and the state, owner and note that people give them.

import { listAudit } from 'dlq-core/queries/change/audit.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { answerOf, createTestApp, lazyTestApp, type TestApp } from '../test-app.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const request = lazyTestApp(service)
const limited: TestApp = (...call) =>
  createTestApp(service.sql, {
    authenticate: async () => ({ actor: 'l', grants: [{ role: 'write', topics: ['pay.*'] }] }),
  })(...call)
const groupId = (n: number) => `00000000-0000-8000-8000-00000000000${n}`
const insert = (columns = {}) => insertMessageRow(database.sql, columns)
const get = async (path: string, app = request) =>
  (await answerOf(app(`GET /api/v1/groups${path}`))).body as Record<string, unknown>
const idsOf = (body: Record<string, unknown>) => (body.groups as { id: string }[]).map(({ id }) => id)
const patch = (n: number, body: object, app = request) =>
  answerOf(
    app(`PATCH /api/v1/groups/${groupId(n)}`, {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  )

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_group_topics', 'dlq.dlq_messages', 'dlq.dlq_groups', 'dlq.dlq_audit')
  await database.sql`
    insert into dlq.dlq_groups (id, version, error_class, message, title, first_seen_at, last_seen_at)
    select ('00000000-0000-8000-8000-00000000000' || n)::uuid, 1, 'com.example.E' || n, 'm', 'E' || n || ' in 100% of calls',
           '2026-02-20T10:00:00Z', '2026-02-20T12:00:00.000123Z'::timestamptz + (n % 2) * interval '1 minute'
    from generate_series(1, 4) n`
  await database.sql`
    insert into dlq.dlq_group_topics (dlq_topic, group_id)
    values ('orders.dlq.v1', ${groupId(1)}), ('pay.dlq.v1', ${groupId(1)}), ('orders.dlq.v1', ${groupId(2)})`
})

describe('the list of error groups', () => {
  beforeEach(async () => {
    for (const [n, dlq_topic] of [
      [1, 'orders'],
      [2, 'orders'],
      [3, 'other'],
      [4, 'other'],
    ] as const)
      await insert({
        group_id: groupId(n),
        status: 'RESOLVED',
        original_topic: 'orders.in',
        dlq_topic: `${dlq_topic}.dlq.v1`,
      })
  })

  test('shows those seen last first, with their messages by status', async () => {
    await insert({ group_id: groupId(3) })
    await insert({ group_id: groupId(3), status: 'DEAD' })
    const body = await get('')
    expect(idsOf(body)).toEqual([3, 1, 4, 2].map(groupId))
    expect(body).toMatchObject({
      groups: [
        {
          title: 'E3 in 100% of calls',
          error_class: 'com.example.E3',
          state: 'open',
          regressed: false,
          first_seen_at: '2026-02-20T10:00:00.000+00:00',
          counts: { PENDING: 1, RETRYING: 0, RESOLVED: 1, DEAD: 1 },
          trend: null,
        },
        { dlq_topics: ['orders.dlq.v1', 'pay.dlq.v1'] },
        {},
        {},
      ],
      next_cursor: null,
    })
  })

  test('is paged, each group once, also where several were seen at the same time', async () => {
    const seen = []
    for (let cursor: unknown = null; ; ) {
      const page = await get(`?limit=1${cursor === null ? '' : `&cursor=${cursor}`}`)
      seen.push(...idsOf(page))
      cursor = page.next_cursor
      if (cursor === null) break
    }
    expect(seen).toEqual([3, 1, 4, 2].map(groupId))
  })

  test('is filtered by state, topic and title', async () => {
    await patch(1, { state: 'ignored' })
    await patch(2, { state: 'resolved' })
    expect(idsOf(await get('?state=open'))).toEqual([3, 4].map(groupId))
    expect(idsOf(await get('?state=ignored,resolved'))).toEqual([1, 2].map(groupId))
    expect(idsOf(await get('?dlq_topic=orders.dlq.v1'))).toEqual([1, 2].map(groupId))
    expect(idsOf(await get('?q=e4 IN 100%25'))).toEqual([groupId(4)])
    expect(idsOf(await get('?q=%25%25'))).toEqual([])
  })

  test('leaves out groups without messages, in the scope and in the topic that is asked for', async () => {
    await database.sql`delete from dlq.dlq_messages where group_id = ${groupId(3)}`
    expect(idsOf(await get(''))).toEqual([1, 4, 2].map(groupId))
    expect(idsOf(await get('?sort=total'))).toEqual([4, 2, 1].map(groupId))
    expect(idsOf(await get('?dlq_topic=pay.dlq.v1'))).toEqual([])
    expect(idsOf(await get('?dlq_topic=other.dlq.v1'))).toEqual([groupId(4)])
    expect(idsOf(await get('', limited))).toEqual([])
  })

  test('is sorted by time or count, also over pages and while counts are not folded', async () => {
    await database.sql`update dlq.dlq_groups set first_seen_at = '2026-02-20T09:00:00Z' where id = ${groupId(2)}`
    for (const [n, status] of [
      [1, 'DEAD'],
      [1, 'DEAD'],
      [2, 'DEAD'],
      [4, 'PENDING'],
      [4, 'PENDING'],
      [4, 'PENDING'],
    ] as const)
      await insert({ group_id: groupId(n), status })
    const pages = async (sort: string) => {
      const seen = []
      for (let cursor: unknown = null; cursor !== undefined; ) {
        const page = await get(`?limit=1&sort=${sort}${cursor === null ? '' : `&cursor=${cursor}`}`)
        seen.push(...idsOf(page).map((id) => Number(id.at(-1))))
        cursor = page.next_cursor ?? undefined
      }
      return seen
    }
    for (const fold of [false, true]) {
      if (fold) await database.sql`select dlq.fold_summary()`
      expect(await pages('first_seen')).toEqual([4, 3, 1, 2])
      expect(await pages('dead')).toEqual([1, 2, 4, 3])
      expect(await pages('pending')).toEqual([4, 3, 2, 1])
      expect(await pages('total')).toEqual([4, 1, 2, 3])
    }
  })

  test('is filtered by owner, regression, statuses, class, consumer group, first failure and ids', async () => {
    await patch(1, { state: 'resolved', owner: 'maria' })
    await insert({ group_id: groupId(1), status: 'DEAD', dlq_topic: 'orders.dlq.v1', consumer_group: 'billing' })
    await database.sql`update dlq.dlq_groups set first_seen_at = now() where id = ${groupId(2)}`
    const found = async (query: string) => idsOf(await get(`?${query}`)).map((id) => Number(id.at(-1)))
    expect(await found('owner=maria')).toEqual([1])
    expect(await found('owner=none')).toEqual([3, 4, 2])
    expect(await found('regressed=true')).toEqual([1])
    expect(await found('with=PENDING,DEAD')).toEqual([1])
    expect(await found('with=RESOLVED&sort=dead')).toEqual([1, 4, 3, 2])
    expect(await found('error_class=com.example.E4')).toEqual([4])
    expect(await found('consumer_group=billing')).toEqual([1])
    expect(await found(`first_seen_from=${new Date(Date.now() - 60_000).toISOString()}`)).toEqual([2])
    expect(await found(`ids=${groupId(4)},${groupId(2)}&ids=${groupId(9)}`)).toEqual([4, 2])
    expect((await answerOf(request('GET /api/v1/groups?ids=x'))).status).toBe(400)
  })

  test('has totals on its first page, each of what the list finds with that filter', async () => {
    const until = new Date(Date.now() + 3_600_000).toISOString()
    await database.sql`update dlq.dlq_groups set first_seen_at = now() where id in (${groupId(3)}, ${groupId(4)})`
    await patch(1, { state: 'resolved' })
    await insert({ group_id: groupId(1), dlq_topic: 'orders.dlq.v1' })
    await patch(2, { state: 'snoozed', snoozed_until: until, owner: 'anonymous' })
    await patch(4, { owner: 'anonymous' })
    const { totals } = await get('?state=ignored')
    expect(totals).toEqual({ open: 2, mine: 1, new: 1, regressed: 1, snoozed: 1, ignored: 0, resolved: 1 })
    const today = new Date(Date.now() - 24 * 3_600_000).toISOString()
    const filters = {
      ...{
        open: 'state=open',
        mine: 'state=open&owner=anonymous',
        new: `state=open&owner=none&first_seen_from=${today}`,
      },
      ...{
        regressed: 'regressed=true',
        snoozed: 'state=snoozed',
        ignored: 'state=ignored',
        resolved: 'state=resolved',
      },
    }
    for (const [kind, filter] of Object.entries(filters))
      expect(idsOf(await get(`?${filter}`)), kind).toHaveLength((totals as Record<string, number>)[kind]!)
    expect((await get('?q=E3')).totals).toMatchObject({ open: 1, resolved: 0 })
    expect((await get('?owner=none', limited)).totals).toMatchObject({ open: 0, resolved: 0 })
    const { next_cursor } = await get('?limit=1')
    expect(await get(`?limit=1&cursor=${next_cursor}`)).toMatchObject({ totals: null })
  })

  test('has the trend of the last day, hour by hour, where it is asked for', async () => {
    await database.sql`
      insert into dlq.dlq_messages (id, original_topic, error_message, group_id)
      select (left(dlq.uuid_floor(now() - minutes * interval '1 minute')::text, 13) || '-7' || right(gen_random_uuid()::text, 21))::uuid,
             'orders', 'e', ${groupId(1)}
      from unnest(array[1, 2, 90, 1500]) minutes`
    const { groups } = (await get('?trend=true')) as { groups: { id: string; trend: { value: number }[] }[] }
    const trend = groups.find(({ id }) => id === groupId(1))!.trend.map(({ value }) => value)
    expect(trend).toEqual([...Array(22).fill(0), 1, 3])
    expect(groups.find(({ id }) => id === groupId(2))!.trend).toHaveLength(24)
  })

  test('counts a thousand messages of an hour in the trend, and says that there are more', async () => {
    await database.sql`
      insert into dlq.dlq_messages (id, original_topic, error_message, group_id)
      select (left(dlq.uuid_floor(now() - hours * interval '1 hour' - interval '1 minute')::text, 13) || '-7' || right(gen_random_uuid()::text, 21))::uuid,
             'orders', 'e', ${groupId(1)}
      from unnest(array[0, 0, 1, 1, 2]) hours, generate_series(1, 600)`
    const { groups } = (await get('?trend=true')) as { groups: { id: string; trend: unknown[] }[] }
    expect(groups.find(({ id }) => id === groupId(1))!.trend.slice(-3)).toEqual([
      { value: 600, relation: 'eq' },
      { value: 1000, relation: 'gte' },
      { value: 1000, relation: 'gte' },
    ])
  })

  test('shows only groups of topics in the scope, and counts only their messages', async () => {
    await insert({ group_id: groupId(1), original_topic: 'pay.in' })
    await insert({ group_id: groupId(1), original_topic: 'orders.in' })
    await insert({ group_id: groupId(4), original_topic: 'pay.in' })
    const body = await get('', limited)
    expect(idsOf(body)).toEqual([1, 4].map(groupId))
    expect(body).toMatchObject({ groups: [{ counts: { PENDING: 1 }, dlq_topics: ['pay.dlq.v1'] }, {}] })
    expect((await answerOf(limited(`GET /api/v1/groups/${groupId(2)}`))).status).toBe(404)
    expect((await patch(2, { state: 'ignored' }, limited)).status).toBe(404)
  })
})

describe('the state, owner and note of an error group', () => {
  test('stay until somebody changes them, and changes are audited', async () => {
    const until = new Date(Date.now() + 3_600_000).toISOString()
    expect(
      await patch(1, { state: 'snoozed', snoozed_until: until, owner: 'maria', note: 'OPS-1', reason: 'known' }),
    ).toMatchObject({
      status: 200,
      body: {
        state: 'snoozed',
        snoozed_until: until.replace('Z', '+00:00'),
        owner: 'maria',
        note: 'OPS-1',
        trend: expect.any(Array),
      },
    })
    expect(await patch(1, { owner: null })).toMatchObject({ body: { state: 'snoozed', owner: null, note: 'OPS-1' } })
    // One entry for each DLQ topic of the group: those who may see only some see what became of theirs.
    const { entries } = await listAudit(service.sql, { filter: {}, scope: null, beforeId: null, limit: 9 })
    expect(entries.map(({ dlq_topic }) => dlq_topic)).toEqual([
      ...['pay.dlq.v1', 'orders.dlq.v1', 'pay.dlq.v1', 'orders.dlq.v1'],
    ])
    const [second, first] = entries.filter(({ dlq_topic }) => dlq_topic === 'orders.dlq.v1')
    expect(first).toMatchObject({
      action: 'group.change',
      target_id: groupId(1),
      reason: 'known',
      dlq_topic: 'orders.dlq.v1',
    })
    expect(JSON.parse(first!.before!)).toMatchObject({ state: 'open', owner: null })
    expect(JSON.parse(second!.after!)).toMatchObject({ state: 'snoozed', owner: null, note: 'OPS-1' })
  })

  test('are changed only as they were read, where the request says so', async () => {
    const change = (etag: string, body: object) =>
      request(`PATCH /api/v1/groups/${groupId(1)}`, {
        headers: { 'content-type': 'application/json', 'if-match': etag },
        body: JSON.stringify(body),
      })
    const etag = async (app = request) => (await app(`GET /api/v1/groups/${groupId(1)}`)).headers.get('etag')!
    const first = await etag()
    await insert({ group_id: groupId(1), dlq_topic: 'orders.dlq.v1' })
    const answer = await change(first, { owner: 'maria' })
    expect(answer.status).toBe(200)
    expect(await etag()).toBe(answer.headers.get('etag'))
    expect((await change(first, { owner: 'paul' })).status).toBe(412)
    expect(await get(`/${groupId(1)}`)).toMatchObject({ owner: 'maria' })
    expect((await change('*', { state: 'ignored' })).status).toBe(200)
    // What others say about their topics neither shows nor stops anybody.
    const mine = await etag(limited)
    await patch(1, { owner: 'jo', dlq_topic: 'orders.dlq.v1' })
    expect(await etag(limited)).toBe(mine)
  })

  test('are set for several groups at once, or for none of them', async () => {
    const change = (ids: string[], body: object, app = request) =>
      answerOf(
        app('PATCH /api/v1/groups', {
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ ids, ...body }),
        }),
      )
    const states = async () =>
      (await database.sql`select state from dlq.dlq_group_topics order by group_id, dlq_topic`).map(
        ({ state }) => state,
      )
    expect(await change([groupId(2), groupId(1)], { state: 'ignored', reason: 'calm' })).toMatchObject({
      status: 200,
      body: {
        groups: [
          { id: groupId(1), state: 'ignored' },
          { id: groupId(2), state: 'ignored', topics: null },
        ],
      },
    })
    expect(await database.sql`select from dlq.dlq_audit where reason = 'calm'`).toHaveLength(3)
    expect((await change([groupId(1), groupId(9)], { state: 'open' })).status).toBe(404)
    await insert({ group_id: groupId(1), dlq_topic: 'pay.dlq.v1' })
    expect((await change([groupId(1), groupId(2)], { state: 'open' }, limited)).status).toBe(404)
    expect(await states()).toEqual(['ignored', 'ignored', 'ignored'])
    expect((await change([groupId(1)], { state: 'open' }, limited)).status).toBe(200)
    expect(await states()).toEqual(['ignored', 'open', 'ignored'])
    expect((await change([], {})).status).toBe(400)
    expect(
      (
        await change(
          Array.from({ length: 101 }, () => groupId(1)),
          {},
        )
      ).status,
    ).toBe(400)
  })

  test('show the group as open when its snooze ends', async () => {
    await patch(1, { state: 'snoozed', snoozed_until: new Date(Date.now() + 3_600_000).toISOString() })
    await database.sql`update dlq.dlq_group_topics set snoozed_until = now() - interval '1 second' where group_id = ${groupId(1)}`
    expect(await get(`/${groupId(1)}`)).toMatchObject({ state: 'open', snoozed_until: null })
    expect(idsOf(await get('?state=snoozed'))).toEqual([])
  })

  test('show the group as regressed when a message arrives after it was resolved', async () => {
    const regressed = async () => (await get(`/${groupId(1)}`)).regressed
    const fail = () => insert({ group_id: groupId(1), dlq_topic: 'orders.dlq.v1' })
    await fail()
    await patch(1, { state: 'resolved' })
    expect(await regressed()).toBe(false)
    await fail()
    expect(await regressed()).toBe(true)
    await patch(1, { state: 'resolved' })
    expect(await regressed()).toBe(false)
    await database.sql`update dlq.dlq_group_topics set last_seen_at = now() where group_id = ${groupId(1)}`
    expect(await regressed()).toBe(true)
    await patch(1, { state: 'open' })
    expect(await regressed()).toBe(false)
  })

  test('belongs to a DLQ topic: a limited token neither reads nor changes what another team says', async () => {
    await insert({ group_id: groupId(1), dlq_topic: 'orders.dlq.v1' })
    await insert({ group_id: groupId(1), dlq_topic: 'pay.dlq.v1' })
    await patch(1, { state: 'resolved', owner: 'maria', note: 'call the customer', dlq_topic: 'orders.dlq.v1' })
    const unsaid = { state: 'open', owner: null, note: null, state_changed_at: null, regressed: false }
    expect(await get(`/${groupId(1)}`, limited)).toMatchObject({
      ...unsaid,
      topics: [{ dlq_topic: 'pay.dlq.v1', ...unsaid }],
    })
    expect(await get('', limited)).toMatchObject({ groups: [{ id: groupId(1), ...unsaid }] })
    expect(idsOf(await get('?state=resolved', limited))).toEqual([])
    expect(idsOf(await get('?dlq_topic=orders.dlq.v1', limited))).toEqual([])

    expect(await patch(1, { state: 'ignored', owner: 'paul', dlq_topic: 'orders.dlq.v1' }, limited)).toMatchObject({
      status: 403,
    })
    expect(await patch(1, { state: 'ignored', owner: 'paul' }, limited)).toMatchObject({
      body: { state: 'ignored', owner: 'paul', note: null },
    })
    expect(await get(`/${groupId(1)}`)).toMatchObject({
      topics: [
        { dlq_topic: 'orders.dlq.v1', state: 'resolved', owner: 'maria', note: 'call the customer' },
        { dlq_topic: 'pay.dlq.v1', state: 'ignored', owner: 'paul', note: null },
      ],
      ...{ state: 'resolved', owner: 'maria', note: 'call the customer' },
    })
  })

  test('cannot be said by a token that covers none of the group’s DLQ topics', async () => {
    await insert({ group_id: groupId(2), original_topic: 'pay.in', dlq_topic: 'orders.dlq.v1' })
    await patch(2, { state: 'ignored', note: 'ours' })
    expect(await get(`/${groupId(2)}`, limited)).toMatchObject({ state: 'open', note: null, topics: [] })
    expect(await patch(2, { state: 'open' }, limited)).toMatchObject({ status: 403 })
  })

  test('can be said of the overflow group, which a topic has without a row', async () => {
    await insert({ group_id: groupId(4), dlq_topic: 'new.dlq.v1' })
    expect(await patch(4, { owner: 'maria' })).toMatchObject({
      body: { owner: 'maria', topics: [{ dlq_topic: 'new.dlq.v1', owner: 'maria' }] },
    })
  })

  test.each([
    [{ state: 'gone' }, 'state'],
    [{ state: 'snoozed' }, 'snoozed_until'],
    [{ snoozed_until: '2999-01-01T00:00:00Z' }, 'snoozed_until'],
    [{ state: 'snoozed', snoozed_until: '2001-01-01T00:00:00Z' }, 'snoozed_until'],
    [{ owner: '' }, 'owner'],
    [{ note: 'a\0b' }, 'note'],
    [{ colour: 'red' }, 'colour'],
  ])('are refused as %j', async (body, field) => {
    expect(await patch(1, body)).toMatchObject({ status: 400, body: { error: { details: [{ field }] } } })
  })
})
