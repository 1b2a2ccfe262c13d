import { randomUUID } from 'node:crypto'
import { fingerprint, overflowGroup } from 'dlq-core/domain/grouping/error-fingerprint.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { eraseGroupTexts } from '../erase/erase-traces.ts'
import { admitGroups, touchGroups } from './admit-groups.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

beforeEach(() => emptyTables(database.sql, 'dlq.dlq_group_topics', 'dlq.dlq_groups'))

const groupOf = (errorClass: string) => fingerprint({ errorClass, errorMessage: null, errorStacktrace: null })
const wanted = (topic: string, ...classes: string[]) => classes.map((name) => ({ topic, group: groupOf(name) }))
const admit = (...groups: ReturnType<typeof wanted>) => admitGroups(service.sql, groups)

describe('the admission of groups', () => {
  test('creates each group once, adds it to each topic, and answers in the order of the request', async () => {
    const asked = [...wanted('a', 'Late', 'Gone', 'Late'), ...wanted('b', 'Late')]
    const ids = ['Late', 'Gone', 'Late', 'Late'].map((name) => groupOf(name).id)
    expect(await admit(...asked)).toEqual(ids)
    expect(await admit(...asked)).toEqual(ids)
    expect(await admitGroups(service.sql, [])).toEqual([])
    const topics = await database.sql`
      select dlq_topic, error_class from dlq.dlq_group_topics join dlq.dlq_groups on id = group_id order by 1, 2`
    expect(topics.map(({ dlq_topic, error_class }) => `${dlq_topic} ${error_class}`)).toEqual([
      'a Gone',
      'a Late',
      'b Late',
    ])
    expect(await database.sql`select from dlq.dlq_groups`).toHaveLength(3)
  })

  test('leaves the state, owner and note of a group alone', async () => {
    await admit(...wanted('a', 'Late'))
    await database.sql`update dlq.dlq_groups set owner = 'maria', state = 'snoozed'`
    await admit(...wanted('b', 'Late'))
    const [row] = await database.sql`select owner, state from dlq.dlq_groups where id = ${groupOf('Late').id}`
    expect(row).toEqual({ owner: 'maria', state: 'snoozed' })
  })

  test('gives a topic a thousand groups, and its further failures the overflow group', async () => {
    const names = Array.from(
      { length: 1005 },
      (_, n) => `Error${String.fromCharCode(97 + (n % 26), 97 + Math.floor(n / 26))}`,
    )
    const ids = names.map((name) => groupOf(name).id)
    await admit(...wanted('full', ...names.slice(0, 998)))
    const last = await admit(...wanted('full', ...names.slice(996)))
    expect(last.slice(0, 2)).toEqual(ids.slice(996, 998))
    expect(last.filter((id) => id === overflowGroup.id)).toHaveLength(5)
    expect(await database.sql`select from dlq.dlq_group_topics where dlq_topic = 'full'`).toHaveLength(1000)
    // Known groups of the topic stay, and another topic has its own thousand.
    expect(await admit(...wanted('full', names[0]!))).toEqual([ids[0]])
    expect(await admit(...wanted('other', names[1004]!))).toEqual([ids[1004]])
  })
})

test('a group that was seen is touched at most every thirty seconds', async () => {
  const [id] = await admit(...wanted('a', 'Late'))
  const age = async (): Promise<number> => {
    const [row] = await database.sql`
      select extract(epoch from now() - last_seen_at)::int as seconds from dlq.dlq_groups where id = ${id!}`
    return row!.seconds
  }
  const seenAgo = (seconds: number) =>
    database.sql`update dlq.dlq_groups set last_seen_at = now() - ${seconds}::int * interval '1 s' where id = ${id!}`
  await seenAgo(25)
  const seen = { topic: 'a', group_id: id! }
  await touchGroups(service.sql, [seen, seen])
  expect(await age()).toBeGreaterThanOrEqual(25)
  await seenAgo(31)
  await touchGroups(service.sql, [seen, seen])
  expect(await age()).toBeLessThan(20)
  await touchGroups(service.sql, [])
})

test('a thousand groups on each of eight topics are touched at once, without comparing each with all others', async () => {
  const topics = Array.from({ length: 8 }, (_, n) => `many-${n}.dlq.v1`)
  await database.sql`
    insert into dlq.dlq_groups (id, version, message, title)
    select gen_random_uuid(), 1, 'many ' || n, 'many ' || n from generate_series(1, 1000) n`
  await database.sql`
    insert into dlq.dlq_group_topics (dlq_topic, group_id, last_seen_at)
    select topic, id, now() - interval '1 day'
    from dlq.dlq_groups, unnest(${topics}::text[]) topic where title like 'many %'`
  const given = await database.sql<{ topic: string; group_id: string }[]>`
    select dlq_topic as topic, group_id from dlq.dlq_group_topics where dlq_topic like 'many-%'`
  await database.sql`analyze dlq.dlq_groups, dlq.dlq_group_topics`
  await service.sql.begin(async (sql) => {
    // A hundred times what it takes. It once took half a minute, during which the ingester stored nothing.
    await sql`set local statement_timeout = '10s'`
    await touchGroups(sql, given)
  })
  const [old] = await database.sql<{ n: number }[]>`
    select count(*)::int as n from dlq.dlq_group_topics where dlq_topic like 'many-%' and last_seen_at < now() - interval '1 minute'`
  expect(given).toHaveLength(8000)
  expect(old!.n).toBe(0)
})

test('a group has failed since the first of its records, and last when the last was written, but never in the future', async () => {
  const at = (minutesAgo: number) => new Date(Date.now() - minutesAgo * 60_000)
  const times = async () => {
    const [row] = await database.sql<{ since: number; topic_since: number; last: number }[]>`
      select round(extract(epoch from now() - g.first_seen_at) / 60)::int as since,
             round(extract(epoch from now() - t.first_seen_at) / 60)::int as topic_since,
             round(extract(epoch from now() - t.last_seen_at) / 60)::int as last
      from dlq.dlq_groups g join dlq.dlq_group_topics t on t.group_id = g.id`
    return row
  }
  const [asked] = wanted('a', 'Late')
  const [id] = await admitGroups(service.sql, [{ ...asked!, failed: { first: at(1440), last: at(600) } }])
  expect(await times()).toEqual({ since: 1440, topic_since: 1440, last: 600 })
  await touchGroups(service.sql, [{ topic: 'a', group_id: id!, failed: { first: at(590), last: at(5) } }])
  expect((await times())?.last).toBe(5)
  // A late record of an hour ago does not set it back, and a clock that is wrong does not set it ahead.
  await touchGroups(service.sql, [{ topic: 'a', group_id: id!, failed: { first: at(60), last: at(60) } }])
  expect((await times())?.last).toBe(5)
  await touchGroups(service.sql, [{ topic: 'a', group_id: id!, failed: { first: at(-900), last: at(-900) } }])
  expect((await times())?.last).toBe(0)
})

test('a group whose texts an erasure has taken gets them again with its next failure', async () => {
  const [one] = wanted('a', 'Late')
  const [id] = await admitGroups(service.sql, [one!])
  const read = async () => (await database.sql`select title, message from dlq.dlq_groups where id = ${id!}`)[0]
  const before = await read()
  const run = randomUUID()
  await database.sql`
    insert into dlq.dlq_erase_items (run_id, message_id, group_id, is_archived, places) values (${run}, ${run}, ${id!}, false, '[]')`
  await eraseGroupTexts(service.sql, run)
  expect(await read()).toEqual({ title: 'Late', message: 'erased' })
  await admitGroups(service.sql, [one!])
  expect(await read()).toEqual(before)
})
