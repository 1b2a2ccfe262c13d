// Error groups that fail more often than usual, and topics that nobody ingests, as events.

import { recordCandidates } from 'dlq-core/queries/discovery/candidates.ts'
import { listBursts } from 'dlq-core/queries/notifications/bursts.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { beforeEach, expect, test } from 'vitest'
import { findEvents } from './find-events.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const group = '00000000-0000-8000-8000-000000000001'
const now = new Date()

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_messages', 'dlq.dlq_groups', 'dlq.dlq_group_topics', 'dlq.dlq_candidates')
  await emptyTables(database.sql, 'dlq.dlq_runs')
  await database.sql`insert into dlq.dlq_groups (id, version, message, title) values (${group}, 1, 'no card', 'no card')`
  await database.sql`
    insert into dlq.dlq_group_topics (dlq_topic, group_id, last_seen_at) values ('orders.dlq.v1', ${group}, ${now})`
})

/** So many failures of the group in the minutes before `minutesAgo`. */
const fail = (
  count: number,
  { minutesAgo, within, topic = 'orders' }: { minutesAgo: number; within: number; topic?: string },
) => database.sql`
  insert into dlq.dlq_messages (id, original_topic, dlq_topic, error_message, group_id, status)
  select (left(dlq.uuid_floor(${now}::timestamptz - (${minutesAgo}::float8 + ${within}::float8 * n / ${count}::float8) * interval '1 minute')::text, 13)
          || '-7' || right(gen_random_uuid()::text, 21))::uuid,
         ${topic}, ${`${topic}.dlq.v1`}, 'no card', ${group}, case when n % 2 = 0 then 'DEAD' else 'PENDING' end
  from generate_series(1, ${count}::int) n`
const noted = { group_id: group, dlq_topic: 'orders.dlq.v1' }
const bursts = async (open: (typeof noted)[] = []) =>
  (await listBursts(service.sql, { now, open })).map(({ in_5m: count }) => count)

test('twenty failures in five minutes are a burst where the day was quiet, and nineteen are none', async () => {
  await fail(19, { minutesAgo: 0.5, within: 3 })
  expect(await bursts()).toEqual([])
  await fail(1, { minutesAgo: 0.5, within: 3 })
  expect(await bursts()).toEqual([20])
})

test('what fails as often all day does not burst', async () => {
  await fail(20, { minutesAgo: 0.5, within: 4 })
  // 20 in five minutes are five times four, and 288 times four are a day.
  await fail(1100, { minutesAgo: 20, within: 1300 })
  expect(await bursts()).toEqual([20])
  await fail(200, { minutesAgo: 20, within: 1300 })
  expect(await bursts()).toEqual([])
})

test('a burst lasts while a quarter of an hour has twice the usual', async () => {
  await fail(30, { minutesAgo: 7, within: 7 })
  expect(await bursts()).toEqual([])
  expect(await bursts([noted])).toEqual([0])
  // 15 minutes have usually 16 of them then, and the last ones had 30.
  await fail(1500, { minutesAgo: 20, within: 1300 })
  expect(await bursts([noted])).toEqual([])
})

test('a backlog that is ingested now is no burst: its records are old', async () => {
  await fail(500, { minutesAgo: 30 * 24 * 60, within: 60 })
  expect(await bursts()).toEqual([])
})

test('however many groups of one DLQ topic fail, those of others burst', async () => {
  await fail(20, { minutesAgo: 0.5, within: 3 })
  await database.sql`
    insert into dlq.dlq_groups (id, version, message, title)
    select ('10000000-0000-8000-8000-' || lpad(n::text, 12, '0'))::uuid, 1, 'm', 't' from generate_series(1, 60) n`
  await database.sql`
    insert into dlq.dlq_group_topics (dlq_topic, group_id, last_seen_at)
    select 'evil.dlq.v1', id, ${now}::timestamptz + interval '1 s' from dlq.dlq_groups where title = 't'`
  expect(await bursts()).toEqual([20])
})

test('DEAD messages that their route holds pass the threshold of their DLQ topic, and of no topic that they claim', async () => {
  await database.sql`
    insert into dlq.dlq_routes (dlq_topic, original_topic, state) values ('evil.dlq.v1', 'payments', 'waiting')`
  await database.sql`
    insert into dlq.dlq_messages (original_topic, dlq_topic, error_message, held_by_route, status)
    select 'payments', 'evil.dlq.v1', 'failed', true, 'DEAD' from generate_series(1, 10)`
  const { conditions } = await findEvents(service.sql, {
    ...{ after: new Date(now.getTime() - 60_000), now, thresholds: [10], openDead: new Set<string>(), openBursts: [] },
    includeMessages: false,
  })
  expect(conditions).toMatchObject([{ type: 'dead.threshold', original_topic: 'evil.dlq.v1' }])
})

test('of a group that two DLQ topics have, each has its own burst, by its own failures', async () => {
  await database.sql`
    insert into dlq.dlq_group_topics (dlq_topic, group_id, last_seen_at)
    values ('evil.dlq.v1', ${group}, ${now}::timestamptz + interval '1 s')`
  await fail(20, { minutesAgo: 0.5, within: 3 })
  await fail(5, { minutesAgo: 0.5, within: 3, topic: 'evil' })
  const found = () => listBursts(service.sql, { now, open: [] })
  expect(await found()).toMatchObject([{ dlq_topic: 'orders.dlq.v1', in_5m: 20 }])
  await fail(3000, { minutesAgo: 0.5, within: 3, topic: 'evil' })
  expect(await found()).toMatchObject([{ dlq_topic: 'evil.dlq.v1' }, { dlq_topic: 'orders.dlq.v1', in_5m: 20 }])
})

test('however many runs of one actor are paused, those of others that end or are paused are told of', async () => {
  await database.sql`
    insert into dlq.dlq_runs (
      kind, actor, status, selection, cutoff, until_id, matched, matched_relation, on_refailure, max_refailure, created_at, ended_at)
    select 'dead', actor, status, '{"filter":{}}', ${now}, ${group}, 1, 'eq', 'continue', 1,
           ${now}::timestamptz - age, case status when 'failed' then ${now}::timestamptz end
    from (values ('evil', 'paused', interval '1 s', 250), ('team', 'paused', interval '1 day', 1), ('team', 'failed', interval '1 day', 1))
      as given (actor, status, age, number), generate_series(1, number)`
  const { happened, conditions } = await findEvents(service.sql, {
    ...{ after: new Date(now.getTime() - 60_000), now, thresholds: [], openDead: new Set<string>(), openBursts: [] },
    includeMessages: false,
  })
  const ofTeam = [...happened, ...conditions].filter(({ data }) => data?.actor === 'team').map(({ type }) => type)
  expect(ofTeam).toEqual(['run.failed', 'run.paused'])
})

test('a burst and a found topic become events, and a weak or dismissed candidate does not', async () => {
  await fail(20, { minutesAgo: 0.5, within: 3 })
  await recordCandidates(service.sql, {
    cluster: 'c',
    found: [
      { topic: 'orders-dlt', confidence: 'name' },
      { topic: 'orders_error', confidence: 'weak' },
      { topic: 'form-dlt', confidence: 'name' },
      { topic: 'told-dlt', confidence: 'name' },
    ],
  })
  await database.sql`update dlq.dlq_candidates set dismissed_at = now() where topic = 'form-dlt'`
  await database.sql`update dlq.dlq_candidates set found_at = now() - interval '1 hour' where topic = 'told-dlt'`
  const { happened, conditions } = await findEvents(service.sql, {
    ...{ after: new Date(now.getTime() - 60_000), now, thresholds: [], openDead: new Set<string>(), openBursts: [] },
    includeMessages: false,
  })
  expect(happened.filter(({ type }) => type === 'topic.found')).toMatchObject([
    { subject: 'topic/c/orders-dlt', dlq_topic: 'orders-dlt', severity: 'info' },
  ])
  expect(conditions).toMatchObject([
    {
      type: 'group.burst',
      subject: `group/${group}/orders.dlq.v1`,
      group_id: group,
      dlq_topic: 'orders.dlq.v1',
      data: { in_5m: 20 },
    },
  ])
})

test.each([
  ['group.new', 'first_seen_at = now()'],
  ['group.regressed', `state = 'resolved', state_changed_at = now() - interval '1 hour', last_seen_at = now()`],
])('of a thousand groups at once none is left out: %s', async (type, change) => {
  await database.sql`
    insert into dlq.dlq_group_topics (dlq_topic, group_id, first_seen_at)
    select 'topic-' || n, ${group}, now() - interval '1 day' from generate_series(1, 1000) n`
  await database.sql`update dlq.dlq_group_topics set ${database.sql.unsafe(change)} where dlq_topic like 'topic-%'`
  const { happened } = await findEvents(service.sql, {
    ...{ after: new Date(now.getTime() - 60_000), now, thresholds: [], openDead: new Set<string>(), openBursts: [] },
    includeMessages: false,
  })
  expect(happened.filter((event) => event.type === type && event.dlq_topic!.startsWith('topic-'))).toHaveLength(1000)
})
