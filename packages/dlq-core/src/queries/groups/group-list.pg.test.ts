// The list of error groups has three ways to its counts: by group, by topic, and one group at a time. All of them must tell
// the same. A scope that covers everything takes the second way where none takes the first.

import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { nodesOf, planCacheModes, plansOf } from 'dlq-testing/postgres/statement-plans.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { beforeAll, describe, expect, test } from 'vitest'
import { idFloorOf } from '../../domain/record/message-id.ts'
import { countGroups, type GroupFilter, groupSorts, listGroups } from './group-list.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const idOf = (n: number) => `00000000-0000-8000-8000-${String(n).padStart(12, '0')}`
const everything = ['*']

beforeAll(async () => {
  await database.sql`
    insert into dlq.dlq_groups (id, version, error_class, message, title, first_seen_at, last_seen_at)
    select ('00000000-0000-8000-8000-' || lpad(n::text, 12, '0'))::uuid, 1, 'E' || n % 7, 'm', 'E' || n,
           now() - n % 9 * interval '1 hour', now() - n % 11 * interval '1 minute'
    from generate_series(1, 60) n`
  // Groups 51 to 60 have no messages; every tenth is of no DLQ topic.
  await database.sql`
    insert into dlq.dlq_messages (original_topic, dlq_topic, consumer_group, error_message, group_id, status)
    select 'topic-' || n % 5, case when n % 10 > 0 then 'topic-' || n % 5 || '.dlq.v1' end, 'group-' || n % 3, 'failed',
           ('00000000-0000-8000-8000-' || lpad((1 + abs(hashint4(n)) % 50)::text, 12, '0'))::uuid,
           (array['PENDING', 'RESOLVED', 'DEAD', 'RESOLVED'])[1 + abs(hashint4(n * 7)) % 4]
    from generate_series(1, 400) n`
  // The times of groups and topics are the same, so that both scopes sort alike.
  await database.sql`
    insert into dlq.dlq_group_topics (dlq_topic, group_id, first_seen_at, last_seen_at, state, snoozed_until, state_changed_at, owner)
    select topic, group_id, g.first_seen_at, g.last_seen_at,
           (array['open', 'resolved', 'snoozed', 'ignored'])[1 + n % 4],
           case when n % 4 = 2 then now() + (n % 3 - 1) * interval '1 hour' end,
           case when n % 3 > 0 then now() + (n % 5 - 2) * interval '1 hour' end,
           (array['maria', 'jo', null, null])[1 + n % 4 / 2 + n % 3]
    from (
      select coalesce(dlq_topic, original_topic) as topic, group_id, dense_rank() over (order by group_id)::int
             + case when right(min(group_id::text), 1) < '4' then 0 else row_number() over (partition by group_id order by min(id::text))::int end as n
      from dlq.dlq_messages group by 1, 2
    ) pairs join dlq.dlq_groups g on g.id = group_id`
  // Of a group that was resolved for two topics, a record was written in between, and stored late.
  const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000)
  await database.sql`
    insert into dlq.dlq_groups (id, version, error_class, message, title, first_seen_at, last_seen_at)
    values (${idOf(61)}, 1, 'E', 'm', 'E61', ${ago(5)}, ${ago(4)})`
  await database.sql`
    insert into dlq.dlq_group_topics (dlq_topic, group_id, first_seen_at, last_seen_at, state, state_changed_at)
    values ('first.dlq.v1', ${idOf(61)}, ${ago(5)}, ${ago(4)}, 'resolved', ${ago(3)}),
           ('second.dlq.v1', ${idOf(61)}, ${ago(5)}, ${ago(4)}, 'resolved', ${ago(1)})`
  await database.sql`
    insert into dlq.dlq_messages (id, original_topic, dlq_topic, error_message, group_id)
    values (${`${idFloorOf(ago(2).getTime()).slice(0, 14)}7000-8000-000000000061`}, 'second', 'second.dlq.v1', 'failed', ${idOf(61)})`
  await database.sql`select dlq.fold_summary()`
  // Some that are not folded, of which a few take a group's last one away.
  await database.sql`update dlq.dlq_messages set status = 'DEAD' where hashtext(id::text) % 10 = 0`
  await database.sql`delete from dlq.dlq_messages where group_id in (${idOf(3)}, ${idOf(8)})`
  await database.sql`vacuum analyze dlq.dlq_summary, dlq.dlq_summary_groups, dlq.dlq_group_topics`
})

const filters: [title: string, filter: GroupFilter][] = [
  ['nothing', {}],
  ['open ones', { state: ['open'] }],
  ['snoozed or ignored ones', { state: ['snoozed', 'ignored'] }],
  ['resolved ones', { state: ['resolved'] }],
  ['regressed ones', { regressed: true }],
  ['nobody’s', { owner: null }],
  ['an owner’s', { owner: 'maria' }],
  ['a status', { withStatus: ['DEAD'] }],
  ['two statuses', { withStatus: ['PENDING', 'RETRYING'] }],
  ['a DLQ topic', { dlqTopic: 'topic-2.dlq.v1' }],
  ['an original topic that has no DLQ topic', { dlqTopic: 'topic-0' }],
  ['nobody’s of a DLQ topic', { dlqTopic: 'topic-2.dlq.v1', owner: null, state: ['open'] }],
  ['a consumer group', { consumerGroup: 'group-1' }],
  ['ids', { ids: [3, 5, 7, 55].map(idOf) }],
  ['a class and a status', { errorClass: 'E3', withStatus: ['RESOLVED'] }],
]

describe.each(filters)('the groups by %s', (_, filter) => {
  test.each(groupSorts)('are the same for everybody who may see all of them, by %s, page by page', async (sort) => {
    const pages = async (scope: readonly string[] | null) => {
      const seen: string[] = []
      for (let after: [string, string] | null = null; ; ) {
        const page: { id: string; place: string }[] = await listGroups(service.sql, {
          filter,
          scope,
          sort,
          after,
          limit: 7,
        })
        seen.push(...page.map(({ id }) => id))
        const last = page.at(-1)
        if (!last || page.length < 7) return seen
        after = [last.place, last.id]
      }
    }
    const all = await pages(null)
    expect(new Set(all).size).toBe(all.length)
    expect(all.length).toBeGreaterThan(0)
    expect(await pages(everything)).toEqual(all)
  })

  test('are as many as the totals say', async () => {
    const newSince = new Date(Date.now() - 5 * 3_600_000)
    const count = (scope: readonly string[] | null) =>
      countGroups(service.sql, { filter, scope, owner: 'maria', newSince })
    const totals = await count(null)
    expect(await count(everything)).toEqual(totals)
    const rest: GroupFilter = { ...filter, state: undefined, owner: undefined, regressed: undefined }
    const listed = async (more: GroupFilter) =>
      (await listGroups(service.sql, { filter: { ...rest, ...more }, scope: null, after: null, limit: 100 })).length
    expect(totals).toEqual({
      open: await listed({ state: ['open'] }),
      mine: await listed({ state: ['open'], owner: 'maria' }),
      new: await listed({ state: ['open'], owner: null, firstSeenFrom: newSince }),
      regressed: await listed({ regressed: true }),
      snoozed: await listed({ state: ['snoozed'] }),
      ignored: await listed({ state: ['ignored'] }),
      resolved: await listed({ state: ['resolved'] }),
    })
  })
})

test('the rows of this file have groups of every kind', async () => {
  const newSince = new Date(Date.now() - 5 * 3_600_000)
  const totals = await countGroups(service.sql, { filter: {}, scope: null, owner: 'maria', newSince })
  expect(Object.entries(totals).filter(([, count]) => count === 0)).toEqual([])
})

test.each(planCacheModes)('with %s, a list over all topics does not read the counts by topic', async (mode) => {
  const plans = await plansOf(database.url, mode, async (sql) => {
    for (const sort of groupSorts) await listGroups(sql, { filter: {}, scope: null, sort, after: null, limit: 10 })
    await countGroups(sql, { filter: {}, scope: null, owner: 'maria', newSince: new Date() })
  })
  const read = new Set(plans.flatMap(nodesOf).flatMap((node) => node['Relation Name'] ?? []))
  expect(read).toContain('dlq_summary_groups')
  expect(read).toContain('dlq_summary_deltas')
  expect(read).not.toContain('dlq_summary')
})
