// The lists of events and deliveries, page after page.

import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { expect, test } from 'vitest'
import { answerOf, lazyTestApp } from '../../test-app.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const request = lazyTestApp(service)

/** The ids of all pages of two. */
async function idsOf(path: string, list: 'events' | 'deliveries'): Promise<string[]> {
  const ids: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body } = await answerOf(request(`GET /api/v1/${path}?limit=2${cursor && `&cursor=${cursor}`}`))
    const page = body as Record<typeof list, { id: string }[]> & { next_cursor: string | null }
    expect(page[list].length).toBeLessThanOrEqual(2)
    ids.push(...page[list].map(({ id }) => id))
    cursor = page.next_cursor
  }
  return ids
}

// One look of a retrier notes many within a millisecond.
test('events that were noted at the same time are all listed, once', async () => {
  const rows = await database.sql<{ id: string }[]>`
    insert into dlq.dlq_events (id, type, subject, severity, title, data, is_condition, at)
    select gen_random_uuid(), 'group.new', 'group/' || n, 'warning', 'New', '{}', false,
           '2026-02-20 10:30:00.000001Z'::timestamptz + n / 3 * interval '1 microsecond'
    from generate_series(1, 7) n returning id`
  const listed = await idsOf('notifications/events', 'events')
  expect(listed.toSorted()).toEqual(rows.map(({ id }) => id).toSorted())
})

test('deliveries that were made at the same time are all listed, once', async () => {
  const rows = await database.sql<{ id: string }[]>`
    insert into dlq.dlq_deliveries (channel, kind, event_ids, send_at, created_at)
    select 'on-call', 'begin', '{}', now(), '2026-02-20 10:30:00.000001Z' from generate_series(1, 5) returning id`
  const listed = await idsOf('deliveries', 'deliveries')
  expect(listed.toSorted()).toEqual(rows.map(({ id }) => id).toSorted())
})
