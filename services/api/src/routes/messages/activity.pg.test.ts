// The history of arrivals and attempts, and the values of a filter's messages.

import { recordTopics } from 'dlq-core/queries/ingest/topics.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
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
const at = (minutes: number) => new Date(noon + minutes * 60_000)
let number = 0
/** A message whose record has this time. */
async function insertAt(minutes: number, columns = {}) {
  number += 1
  const time = at(minutes).getTime().toString(16).padStart(12, '0')
  const id = `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${String(number).padStart(12, '0')}`
  return insertMessageRow(database.sql, { id, original_topic: 'orders', dlq_topic: 'orders.dlq.v1', ...columns })
}
const attempt = (message_id: string, settled: number, rest: { outcome?: string; failed_again_at?: Date } = {}) =>
  database.sql`
    insert into dlq.dlq_attempts ${database.sql({ message_id, number: 1, attempt_id: message_id, outcome: 'published', settled_at: at(settled), ...rest })}`

type Bucket = Record<'arrived' | 'sent' | 'failed_again' | 'dead', { value: number; relation: string }>
type Activity = { series: { key: string | null; buckets: Bucket[] }[]; complete: boolean; left_out: number }
const range = `from=${at(0).toISOString()}&to=${at(180).toISOString()}&step=1h`
const activity = async (query = '', app = request) =>
  (await answerOf(app(`GET /api/v1/activity?${range}${query}`))).body as Activity
const values = ({ buckets }: Activity['series'][number], name: keyof Bucket) => buckets.map((one) => one[name].value)

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_messages', 'dlq.dlq_attempts', 'dlq.dlq_topics')
})

describe('the activity', () => {
  test('counts in each stretch what arrived, was sent, came back and is dead', async () => {
    const first = await insertAt(0)
    const second = await insertAt(61, { status: 'DEAD' })
    await insertAt(119)
    await insertAt(-1)
    await insertAt(180)
    await attempt(first, 62, { failed_again_at: at(121) })
    await attempt(second, 63, { outcome: 'failed' })
    const { series, complete } = await activity()
    expect(complete).toBe(true)
    expect(series).toHaveLength(1)
    expect(values(series[0]!, 'arrived')).toEqual([1, 2, 0])
    expect(values(series[0]!, 'sent')).toEqual([0, 1, 0])
    expect(values(series[0]!, 'failed_again')).toEqual([0, 0, 1])
    expect(values(series[0]!, 'dead')).toEqual([0, 1, 0])
  })

  test('counts what the list finds by its time of arrival, whenever it was stored, failed again or is due', async () => {
    const times = [-1, 0, 61, 62, 119, 180]
    const ids = []
    for (const minutes of times)
      ids.push(await insertAt(minutes, { failure_count: 3, next_retry_at: at(-minutes), group_id: group }))
    const { series } = await activity()
    expect(values(series[0]!, 'arrived')).toEqual([1, 3, 0])
    const listed = async (query: string) => {
      const { body } = await answerOf(request(`GET /api/v1/messages?limit=9&${query}`))
      return (body as { messages: { id: string }[] }).messages.map(({ id }) => id)
    }
    const second = `arrived_from=${at(60).toISOString()}&arrived_to=${at(120).toISOString()}`
    const wanted = [ids[4], ids[3], ids[2]]
    for (const beside of [
      '',
      'sort=next_due',
      'from=2000-01-01',
      'topic=orders',
      'status=PENDING',
      `group_id=${group}`,
    ])
      expect(await listed(`${second}&${beside}`), beside).toEqual(wanted)
    expect(await listed(`arrived_to=${at(0).toISOString()}`)).toEqual([ids[0]])
    expect(await listed(`arrived_from=${at(180).toISOString()}`)).toEqual([ids[5]])
  })

  test('is of a filter’s messages only, and by topic, group or consumer group, those with most first', async () => {
    const mine = await insertAt(1, { group_id: group, consumer_group: 'billing' })
    await insertAt(2, { original_topic: 'refunds', consumer_group: 'billing' })
    const other = await insertAt(62, { original_topic: 'refunds' })
    await attempt(mine, 5)
    await attempt(other, 5)
    const of = async (query: string) =>
      (await activity(query)).series.map((one) => [one.key, values(one, 'arrived'), values(one, 'sent')])
    expect(await of(`&group_id=${group}`)).toEqual([[null, [1, 0, 0], [1, 0, 0]]])
    expect(await of('&status=DEAD')).toEqual([[null, [0, 0, 0], [0, 0, 0]]])
    expect(await of('&by=topic')).toEqual([
      ['refunds', [1, 1, 0], [1, 0, 0]],
      ['orders', [1, 0, 0], [1, 0, 0]],
    ])
    expect(await of('&by=group&consumer_group=billing')).toEqual(
      expect.arrayContaining([
        [group, [1, 0, 0], [1, 0, 0]],
        [null, [1, 0, 0], [0, 0, 0]],
      ]),
    )
  })

  test('refuses stretches that go beyond the years of PostgreSQL’s times', async () => {
    const beyond = { status: 400, body: { error: { details: [{ field: 'step', message: expect.any(String) }] } } }
    for (const to of ['9999-12-31T23:30:00Z', '0001-01-01T12:00:00Z'])
      expect(await answerOf(request(`GET /api/v1/activity?to=${to}`)), to).toMatchObject(beyond)
    expect((await request('GET /api/v1/activity?to=9999-12-31T23:00:00Z')).status).toBe(200)
  })

  test('says where it has not looked at all rows', async () => {
    await database.sql`
      insert into dlq.dlq_messages (id, original_topic, error_message)
      select (left(dlq.uuid_floor(${at(90)})::text, 13) || '-7' || right(gen_random_uuid()::text, 21))::uuid, 'orders', 'e'
      from generate_series(1, 600)`
    const { series, complete } = await activity('&by=topic')
    expect(complete).toBe(false)
    expect(series[0]!.buckets.map(({ arrived }) => arrived.relation)).toEqual(['eq', 'gte', 'eq'])
    expect(values(series[0]!, 'arrived')[1]).toBeGreaterThan(100)
    expect((await activity()).series[0]!.buckets[1]!.arrived).toEqual({ value: 600, relation: 'eq' })
  })

  test('tells a limited token nothing of other topics', async () => {
    await attempt(await insertAt(1), 2)
    await attempt(await insertAt(1, { original_topic: 'pay', dlq_topic: 'pay.dlq.v1' }), 3)
    const { series } = await activity('&by=topic', limited)
    expect(series.map((one) => [one.key, values(one, 'arrived'), values(one, 'sent')])).toEqual([
      ['pay', [1, 0, 0], [1, 0, 0]],
    ])
    expect((await activity('', limited)).series[0]).toMatchObject({
      buckets: [{ arrived: { value: 1 }, sent: { value: 1 } }, {}, {}],
    })
  })

  test.each([
    ['step=1s', 'step'],
    ['step=0s', 'step'],
    ['step=soon', 'step'],
    ['to=2026-02-20T11:00:00Z&from=2026-02-20T12:00:00Z', 'to'],
    ['from=9999-01-01T00:00:00Z', 'to'],
    ['arrived_from=2026-02-20&arrived_to=2026-02-19', 'arrived_to'],
    ['by=colour', 'by'],
    ['archived=true', 'archived'],
  ])('refuses %s', async (query, field) => {
    expect(await answerOf(request(`GET /api/v1/activity?${query}`))).toMatchObject({
      ...{ status: 400, body: { error: { details: [{ field }] } } },
    })
  })
})

describe('facets', () => {
  const facets = async (query = '', app = request) => (await answerOf(app(`GET /api/v1/messages/facets${query}`))).body
  beforeEach(async () => {
    await recordTopics(service.sql, { cluster: 'c', found: [{ topic: 'pay.dlq.v1', topic_id: null, partitions: 1 }] })
    await insertAt(1, { status: 'DEAD', error_class: 'A', original_partition: 3 })
    await insertAt(2, { group_id: group, error_class: 'A' })
    await insertAt(3, { original_topic: 'pay', dlq_topic: 'pay.dlq.v1', consumer_group: 'billing', error_class: 'B' })
  })

  test('are the values of the filter’s messages, the most frequent first', async () => {
    expect(await facets()).toEqual({
      facets: {
        original_topic: [
          { value: 'orders', count: 2 },
          { value: 'pay', count: 1 },
        ],
        consumer_group: [
          { value: null, count: 2 },
          { value: 'billing', count: 1 },
        ],
        partition: [
          { value: null, count: 2 },
          { value: '3', count: 1 },
        ],
        status: [
          { value: 'PENDING', count: 2 },
          { value: 'DEAD', count: 1 },
        ],
        error_class: [
          { value: 'A', count: 2 },
          { value: 'B', count: 1 },
        ],
        group_id: [
          { value: null, count: 2 },
          { value: group, count: 1 },
        ],
        age: [{ value: 'under 1d', count: 3 }],
      },
      ...{ found: 3, examined: 3, complete: true },
    })
    expect(await facets('?by=status,age&error_class=A&topic=orders')).toEqual({
      facets: {
        status: [
          { value: 'DEAD', count: 1 },
          { value: 'PENDING', count: 1 },
        ],
        age: [{ value: 'under 1d', count: 2 }],
      },
      ...{ found: 2, examined: 2, complete: true },
    })
    expect(await facets('?by=status&topic=nothing')).toMatchObject({ facets: { status: [] }, found: 0, complete: true })
    expect((await answerOf(request('GET /api/v1/messages/facets?by=colour'))).status).toBe(400)
  })

  test('look at a bounded number of messages, and say so', async () => {
    await database.sql`insert into dlq.dlq_messages (original_topic, error_message) select 'orders', 'e' from generate_series(1, 1100)`
    expect(await facets('?by=status')).toMatchObject({ found: 500, examined: 500, complete: false })
  })

  test('tell a limited token nothing of other topics', async () => {
    expect(await facets('?by=original_topic,error_class', limited)).toMatchObject({
      facets: { original_topic: [{ value: 'pay', count: 1 }], error_class: [{ value: 'B', count: 1 }] },
    })
  })
})
