// The topics: one, their list, and what each has.

import { listAudit } from 'dlq-core/queries/change/audit.ts'
import { resetPosition } from 'dlq-core/queries/ingest/positions.ts'
import { recordLogBounds, recordTopicSettings } from 'dlq-core/queries/ingest/topic-partitions.ts'
import { upsertPolicy } from 'dlq-core/queries/retry/policies.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { answerOf } from '../../test-app.ts'
import { useOverview } from './test-overview.ts'

const { database, service, request, limited, insert, bodyOf } = useOverview()

describe('one topic', () => {
  test('is found by its name, as a DLQ topic where one has it', async () => {
    await insert({ original_topic: 'pay.in', dlq_topic: 'pay.dlq.v1' })
    await insert({ original_topic: 'pay.dlq.v1', dlq_topic: 'orders.dlq.v1' })
    expect(await bodyOf('topics/pay.dlq.v1')).toMatchObject({
      kind: 'dlq',
      counts: { PENDING: 1 },
      found: { cluster: 'c' },
    })
    expect(await bodyOf('topics/pay.dlq.v1?kind=original')).toMatchObject({ kind: 'original', counts: { PENDING: 1 } })
    expect(await bodyOf('topics/pay.in')).toMatchObject({ kind: 'original', counterparts: ['pay.dlq.v1'] })
    for (const [path, app] of [
      ['nothing', request],
      ['pay.in?kind=dlq', request],
      ['orders.dlq.v1', limited],
    ] as const)
      expect((await answerOf(app(`GET /api/v1/topics/${path}`))).status, path).toBe(404)
    expect((await answerOf(limited('GET /api/v1/topics/pay.in'))).status).toBe(200)
  })

  test('says which groups of its open messages are gone, to whom may see the topic that they read', async () => {
    await insert({ original_topic: 'pay.in', dlq_topic: 'pay.dlq.v1', consumer_group: 'billing' })
    await insert({ original_topic: 'shared', dlq_topic: 'pay.dlq.v1', consumer_group: 'mail' })
    await insert({ original_topic: 'pay.in', dlq_topic: 'pay.dlq.v1', consumer_group: 'done', status: 'RESOLVED' })
    await insert({ original_topic: 'pay.in', dlq_topic: 'pay.dlq.v1', consumer_group: 'away' })
    for (const [target_topic, consumer_group, days] of [
      ...[['pay.in', 'billing', 8] as const, ['shared', 'mail', 8] as const, ['pay.in', 'done', 8] as const],
      ...[['pay.in', 'away', 6] as const, ['other', 'away', 8] as const],
    ])
      await database.sql`
        insert into dlq.dlq_readers (target_topic, consumer_group, type, state, members, horizon, alone_since)
        values (${target_topic}, ${consumer_group}, 'classic', 'Empty', 0, '1 s', now() - ${days}::int * interval '1 day')`
    try {
      const gone = async (app = request) =>
        ((await answerOf(app('GET /api/v1/topics/pay.dlq.v1'))).body as { faults: object[] }).faults
      expect(await gone()).toMatchObject([
        { kind: 'group_gone', text: expect.stringContaining('group billing ') },
        { kind: 'group_gone', text: expect.stringContaining('group mail ') },
      ])
      expect(await gone(limited)).toMatchObject([{ text: expect.stringContaining('group billing ') }])
    } finally {
      await database.sql`delete from dlq.dlq_readers`
    }
  })

  test('gets a name that people know, within the topics of a token, with its audit', async () => {
    await insert({ original_topic: 'pay.in', dlq_topic: 'pay.dlq.v1' })
    await insert({ original_topic: 'shared', dlq_topic: 'pay.dlq.v1' })
    const rename = (path: string, display_name: unknown, app = request) =>
      answerOf(
        app(`PATCH /api/v1/${path}`, {
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ display_name, reason: 'r' }),
        }),
      )
    expect(await rename('topics/pay.in', ' Payments ', limited)).toEqual({
      ...{ status: 200, body: { topic: 'pay.in', display_name: 'Payments' } },
    })
    expect(await bodyOf('topics/pay.in')).toMatchObject({ display_name: 'Payments' })
    expect((await rename('topics/shared', 'Ours', limited)).status).toBe(403)
    expect((await rename('topics/orders.dlq.v1', 'Ours', limited)).status).toBe(404)
    expect((await rename('topics/nothing', 'x')).status).toBe(404)
    expect((await rename('topics/pay.in', '')).status).toBe(400)
    expect((await rename('consumer-groups/billing', 'Billing', limited)).status).toBe(403)
    expect((await rename('consumer-groups/billing', 'Billing')).status).toBe(200)
    expect((await rename('topics/pay.in', null)).body).toEqual({ topic: 'pay.in', display_name: null })
    const { entries } = await listAudit(service.sql, { filter: {}, scope: null, beforeId: null, limit: 9 })
    expect(entries.map(({ action, before, after }) => [action, before, after])).toEqual([
      ['topic.rename', '{"display_name":"Payments"}', '{"display_name":null}'],
      ['consumer_group.rename', '{"display_name":null}', '{"display_name":"Billing"}'],
      ['topic.rename', '{"display_name":null}', '{"display_name":"Payments"}'],
    ])
    // The audit is found by topic, and by a word of its reason.
    const found = async (query: string) => ((await bodyOf(`audit?${query}`)) as { entries: unknown[] }).entries.length
    expect([
      await found('topic=pay.in'),
      await found('topic=billing'),
      await found('q=R'),
      await found('q=%25'),
    ]).toEqual([...[2, 0, 3, 0]])
  })
})

describe('the list of topics', () => {
  const names = async (query: string, app = request) =>
    ((await bodyOf(`topics?${query}`, app)) as { topics: { topic: string }[] }).topics.map(({ topic }) => topic)
  beforeEach(async () => {
    await insert({ original_topic: 'pay.in', dlq_topic: 'pay.dlq.v1', status: 'DEAD' })
    await insert({ original_topic: 'orders', dlq_topic: 'orders.dlq.v1', status: 'DEAD' })
    await insert({ original_topic: 'orders', dlq_topic: 'orders.dlq.v1', status: 'DEAD' })
    await insert({ original_topic: 'pay.in', dlq_topic: 'pay.dlq.v1' })
  })

  test('is searched and sorted, also page by page', async () => {
    expect(await names('q=DLQ')).toEqual(['orders.dlq.v1', 'pay.dlq.v1', 'unused.dlq.v1'])
    expect(await names('q=Un')).toEqual(['unused.dlq.v1'])
    expect(await names('q=%25')).toEqual([])
    expect(await names('kind=original&q=pay')).toEqual(['pay.in'])
    expect(await names('sort=pending')).toEqual(['pay.dlq.v1', 'orders.dlq.v1', 'unused.dlq.v1'])
    expect(await names('sort=dead', limited)).toEqual(['pay.dlq.v1'])
    for (const kind of ['dlq', 'original']) {
      const seen = []
      for (let cursor = ''; ; ) {
        const page = await bodyOf(`topics?kind=${kind}&sort=dead&limit=1${cursor && `&cursor=${cursor}`}`)
        seen.push(...(page.topics as { topic: string }[]).map(({ topic }) => topic))
        if (page.next_cursor === null) break
        cursor = page.next_cursor as string
      }
      expect(seen).toEqual(kind === 'dlq' ? ['orders.dlq.v1', 'pay.dlq.v1', 'unused.dlq.v1'] : ['orders', 'pay.in'])
    }
  })

  test('has those first whose records expire first, or only those', async () => {
    const seen = { partition: 0, log_start_offset: 0n, log_end_offset: 5n }
    const at = (topic: string, hour: number) => ({
      topic,
      partition: 0,
      offset: 0n,
      timestamp: Date.UTC(2026, 1, 20, hour),
    })
    await recordLogBounds(service.sql, {
      cluster: 'c',
      bounds: ['orders.dlq.v1', 'pay.dlq.v1'].map((topic) => ({ topic, ...seen })),
      unread: [at('orders.dlq.v1', 10), at('pay.dlq.v1', 9)],
    })
    const settings = { retention_ms: 604_800_000n, retention_bytes: null, cleanup_policy: 'delete' }
    await recordTopicSettings(service.sql, {
      cluster: 'c',
      settings: ['orders.dlq.v1', 'pay.dlq.v1'].map((topic) => ({ topic, ...settings })),
    })
    expect(await names('sort=expires')).toEqual(['pay.dlq.v1', 'orders.dlq.v1', 'unused.dlq.v1'])
    expect(await names('sort=expires&only=losing&limit=1')).toEqual(['pay.dlq.v1'])
    expect(await names('only=losing')).toEqual(['orders.dlq.v1', 'pay.dlq.v1'])
    expect(await names('only=losing', limited)).toEqual(['pay.dlq.v1'])
    // What waits and never expires is not being lost; what retention has deleted is.
    const unused = { cluster: 'c', topic: 'unused.dlq.v1', partition: 0 }
    const bounds = (start: bigint) => [{ ...seen, topic: unused.topic, log_start_offset: start }]
    await recordLogBounds(service.sql, { cluster: 'c', bounds: bounds(0n), unread: [at(unused.topic, 8)] })
    expect(await names('only=losing')).toEqual(['orders.dlq.v1', 'pay.dlq.v1'])
    await resetPosition(service.sql, { ...unused, next_offset: 3n })
    await recordLogBounds(service.sql, { cluster: 'c', bounds: bounds(5n), unread: [] })
    expect(await names('only=losing')).toEqual(['orders.dlq.v1', 'pay.dlq.v1', 'unused.dlq.v1'])
    for (const query of ['sort=expires', 'only=losing'])
      expect((await answerOf(request(`GET /api/v1/topics?kind=original&${query}`))).status).toBe(400)
  })
})

describe('the topics', () => {
  test('of Kafka have their counts, their progress and their policy', async () => {
    await insert({ dlq_topic: 'orders.dlq.v1', created_at: new Date('2026-02-20T10:30:00Z') })
    await insert({ dlq_topic: 'orders.dlq.v1', original_topic: 'orders.late', status: 'DEAD' })
    await insert({ dlq_topic: 'orders.dlq.v1', status: 'DEAD' })
    await resetPosition(service.sql, { cluster: 'c', topic: 'orders.dlq.v1', partition: 0, next_offset: 40n })
    await resetPosition(service.sql, { cluster: 'c', topic: 'orders.dlq.v1', partition: 1, next_offset: 2n })
    // Partition 0 ends at 45. Partition 1 ends at 7, and retention has deleted it up to 4.
    const bounds = [
      [0, 0n, 45n],
      [1, 4n, 7n],
    ] as const
    await recordLogBounds(service.sql, {
      cluster: 'c',
      bounds: bounds.map(([partition, log_start_offset, log_end_offset]) => ({
        topic: 'orders.dlq.v1',
        partition,
        log_start_offset,
        log_end_offset,
      })),
      unread: [{ topic: 'orders.dlq.v1', partition: 0, offset: 40n, timestamp: Date.parse('2026-02-20T10:00:00Z') }],
    })
    await recordTopicSettings(service.sql, {
      cluster: 'c',
      settings: [
        { topic: 'orders.dlq.v1', retention_ms: 604_800_000n, retention_bytes: null, cleanup_policy: 'delete' },
      ],
    })
    await upsertPolicy(service.sql, 'orders.dlq.v1', { paused: true })

    expect(await bodyOf('topics')).toMatchObject({
      topics: [
        {
          topic: 'orders.dlq.v1',
          kind: 'dlq',
          counterparts: ['orders.events.v1', 'orders.late'],
          counts: { PENDING: 1, RETRYING: 0, RESOLVED: 0, DEAD: 2 },
          oldest_pending_at: '2026-02-20T10:30:00.000+00:00',
          found: { cluster: 'c', partitions: 2, gone_at: null },
          ingestion: { read_to: '42', loss_clock: { lag: 8, lost: 2 } },
          policy: { paused: { value: true, source: 'policy', pattern: 'orders.dlq.v1' } },
        },
        { topic: 'pay.dlq.v1' },
        {
          topic: 'unused.dlq.v1',
          counterparts: [],
          oldest_pending_at: null,
          ingestion: { stored_at: null, read_to: null, loss_clock: { looked_at: null } },
        },
      ],
      next_cursor: null,
    })
    const { topics } = (await bodyOf('topics?limit=1')) as { topics: { ingestion: { loss_clock: object } }[] }
    expect(topics[0]!.ingestion.loss_clock).toMatchObject({
      oldest_unread_at: '2026-02-20T10:00:00.000+00:00',
      expires_at: '2026-02-27T10:00:00.000+00:00',
    })
  })

  test('that are original topics of messages are found without Kafka', async () => {
    await insert({ dlq_topic: 'orders.dlq.v1' })
    await insert({ original_topic: 'by.http' })
    expect(await bodyOf('topics?kind=original')).toMatchObject({
      topics: [
        { topic: 'by.http', kind: 'original', counterparts: [], found: null, ingestion: null },
        { topic: 'orders.events.v1', counterparts: ['orders.dlq.v1'] },
      ],
    })
  })

  test.each(['dlq', 'original'])('of kind %s are paged, each once', async (kind) => {
    for (const original_topic of ['a', 'b', 'c']) await insert({ original_topic })
    await database.sql`insert into dlq.dlq_topics (cluster, topic, partitions) values ('d', 'pay.dlq.v1', 1)`
    const seen = []
    for (let cursor: unknown = null; ; ) {
      const page = await bodyOf(`topics?kind=${kind}&limit=2${cursor === null ? '' : `&cursor=${cursor}`}`)
      seen.push(...(page.topics as { topic: string }[]).map(({ topic }) => topic))
      cursor = page.next_cursor
      if (cursor === null) break
    }
    expect(seen).toEqual(
      kind === 'dlq' ? ['orders.dlq.v1', 'pay.dlq.v1', 'pay.dlq.v1', 'unused.dlq.v1'] : ['a', 'b', 'c'],
    )
  })

  test('are counted exactly, however many there are', async () => {
    await database.sql`
      insert into dlq.dlq_messages (original_topic, error_message) select 'big', 'e' from generate_series(1, 1001)`
    expect(await bodyOf('topics?kind=original')).toMatchObject({ topics: [{ counts: { PENDING: 1001, DEAD: 0 } }] })
  })

  test('are not listed before the first full count', async () => {
    await database.sql`update dlq.dlq_summary_state set counted_at = null`
    try {
      for (const path of ['topics', 'topics?kind=original', 'groups', 'consumer-groups'])
        expect(await answerOf(request(`GET /api/v1/${path}`)), path).toMatchObject({
          status: 503,
          body: { error: { code: 'SYS_DLQ_UNAVAILABLE' } },
        })
    } finally {
      await database.sql`update dlq.dlq_summary_state set counted_at = now()`
    }
  })

  test('out of the scope are not shown', async () => {
    await insert({ original_topic: 'orders.in' })
    await insert({ original_topic: 'pay.in' })
    expect(await bodyOf('topics', limited)).toMatchObject({ topics: [{ topic: 'pay.dlq.v1' }] })
    const originals = (await bodyOf('topics?kind=original', limited)).topics as { topic: string }[]
    expect(originals.map(({ topic }) => topic)).toEqual(['pay.in'])
  })

  test.each([
    'topics?cursor=x',
    'topics?kind=all',
    'topics?limit=201',
    'positions?cursor=x',
    'groups?cursor=x',
    'groups?state=lost',
  ])('GET /%s answers 400', async (path) => {
    expect((await answerOf(request(`GET /api/v1/${path}`))).status).toBe(400)
  })

  test('do not take a cursor whose rank no number of PostgreSQL can be', async () => {
    const { next_cursor } = await bodyOf('topics?limit=1')
    const [binding, , ...place] = JSON.parse(Buffer.from(next_cursor as string, 'base64url').toString())
    for (const rank of ['1e+400', '9'.repeat(400)]) {
      const cursor = Buffer.from(JSON.stringify([binding, rank, ...place])).toString('base64url')
      expect((await answerOf(request(`GET /api/v1/topics?limit=1&cursor=${cursor}`))).status, rank).toBe(400)
    }
  })

  test('do not take the cursor of another list', async () => {
    const { next_cursor } = await bodyOf('topics?limit=1')
    expect(await answerOf(request(`GET /api/v1/topics?kind=original&cursor=${next_cursor}`))).toMatchObject({
      status: 400,
      body: { error: { details: [{ field: 'cursor' }] } },
    })
  })
})
