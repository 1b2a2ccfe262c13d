// Single cases of searches, with rows of their own. message-search.pg.test.ts compares searches with filters in JavaScript.

import { changingBetween } from 'dlq-testing/postgres/changing-between.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { MessageFilter } from '../../domain/message/message-filter.ts'
import { recordTopics } from '../ingest/topics.ts'
import type { MessageSearch } from './message-scan.ts'
import { readLarge, searchIds, searchMessages } from './message-search.ts'
import { resolveTopic } from './message-topic.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

beforeAll(() =>
  recordTopics(service.sql, { cluster: 'c', found: [{ topic: 'late.dlq.v1', topic_id: null, partitions: 1 }] }),
)

async function searchOf(filter: MessageFilter & { topic: string }): Promise<MessageSearch> {
  const { archived } = filter
  return { filter, topic: await resolveTopic(service.sql, filter.topic, { archived }), scope: null, sort: 'newest' }
}

test('a glob finds archived messages of topics that no live message has any more', async () => {
  const [old] = await database.sql<[{ id: string }]>`
    insert into dlq.dlq_messages (original_topic, dlq_topic, error_message, status)
    values ('bygone', 'bygone.dlq.v1', 'e', 'RESOLVED') returning id`
  await database.sql`select dlq.archive_messages(array[${old.id}]::uuid[], now() + interval '1 hour')`
  try {
    for (const topic of ['bygone', 'bygone*', 'by?one', 'by*.dlq.v1']) {
      const search = await searchOf({ topic, archived: true })
      const { rows } = await searchMessages(service.sql, { search, after: null, limit: 5, examine: 500 })
      expect(
        rows.map(({ id }) => id),
        topic,
      ).toEqual([old.id])
    }
  } finally {
    await database.sql`delete from dlq.dlq_messages_archive where id = ${old.id}`
  }
})

describe('while messages leave the filter', () => {
  const search = { filter: { topic: 'racy', status: ['PENDING' as const], q: 'wanted' } }
  let wanted: string[] = []
  const resolveFirst = () =>
    database.sql`
      update dlq.dlq_messages set status = 'RESOLVED' where id in (
        select id from dlq.dlq_messages where original_topic = 'racy' order by id limit 8)`

  beforeEach(async () => {
    const rows = await database.sql<{ id: string; error_message: string }[]>`
      insert into dlq.dlq_messages (id, original_topic, error_message)
      select ('00000000-0000-7000-8000-0000000001' || lpad(n::text, 2, '0'))::uuid, 'racy',
             case when n in (15, 35) then 'wanted' else 'other' end
      from generate_series(1, 40) n returning id, error_message`
    wanted = rows.filter(({ error_message }) => error_message === 'wanted').map(({ id }) => id)
  })
  afterEach(() => database.sql`delete from dlq.dlq_messages where original_topic = 'racy'`)

  test('a page skips no other message', async () => {
    const sql = changingBetween(service.sql, resolveFirst)
    const topic = await resolveTopic(service.sql, 'racy')
    const found: string[] = []
    for (let after: readonly string[] | null = null; ; ) {
      const all = { ...search, topic, scope: null, sort: 'oldest' as const }
      const { rows, examinedTo } = await searchMessages(sql, { search: all, after, limit: 2, examine: 10 })
      found.push(...rows.map(({ id }) => id))
      if (examinedTo === null && rows.length < 2) break
      after = examinedTo ?? [rows.at(-1)!.id]
    }
    expect(found).toEqual(wanted)
  })

  test('a chunk of a selection skips no other message', async () => {
    const sql = changingBetween(service.sql, resolveFirst)
    const topic = await resolveTopic(service.sql, 'racy')
    const found: string[] = []
    for (let afterId: string | null = null; ; ) {
      const all = { ...search, topic, scope: null }
      const { ids, examinedTo } = await searchIds(sql, {
        ...{ search: all, afterId, untilId: wanted.at(-1)!, limit: 2, examine: 10 },
      })
      found.push(...ids)
      if (examinedTo === null && ids.length < 2) break
      afterId = examinedTo ?? ids.at(-1)!
    }
    expect(found).toEqual(wanted)
  })
})

describe('a DLQ topic', () => {
  test('is tested row by row where its original topics have many messages of others', async () => {
    const undo = new Error('undo')
    const among = (others: number) =>
      service.sql.begin(async (sql) => {
        await sql`
          insert into dlq.dlq_summary_deltas (dlq_topic, original_topic, status, change)
          values ('late.dlq.v1', 'shared', 'DEAD', 1), ('other.dlq.v1', 'shared', 'DEAD', ${others}), (null, 'elsewhere', 'DEAD', 9000)`
        const { isMixed } = await resolveTopic(sql, 'late.dlq.v1')
        throw Object.assign(undo, { isMixed })
      })
    await expect(among(1000)).rejects.toMatchObject({ isMixed: false })
    await expect(among(6000)).rejects.toMatchObject({ isMixed: true })
  })
})

describe('a payload', () => {
  test('that is large is left out of a page, and read on its own', async () => {
    const value = JSON.stringify({ text: 'x'.repeat(40_000) })
    const [large] = await database.sql<[{ id: string }]>`
      insert into dlq.dlq_messages (original_topic, error_message, record_value, payload)
      values ('large', 'e', ${Buffer.from(value)}, ${value}::text::jsonb) returning id`
    const search = await searchOf({ topic: 'large' })
    const { rows } = await searchMessages(service.sql, { search, after: null, limit: 10, examine: 10 })
    expect(rows).toMatchObject([{ id: large.id, large: true, payload: null, unprojected_value: null }])

    const [read] = await readLarge(service.sql, { ids: [large.id], archived: false })
    expect(JSON.parse(read!.payload!)).toEqual(JSON.parse(value))
    await database.sql`delete from dlq.dlq_messages where id = ${large.id}`
  })
})
