// The plans of searches: along the index of the filter's narrowest field, in the list's order, so that the
// ten-thousandth page costs the same as the first. No partition is read as a whole, and none is sorted. As in practice,
// rows lie in the order of their ids and DEAD ones are old, so a plan along the primary key would look cheap.

import { postgresVersion } from 'dlq-testing/postgres/postgres-programs.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { isRun, nodesOf, partitionsWithRows, planCacheModes, plansOf } from 'dlq-testing/postgres/statement-plans.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { beforeAll, describe, expect, test } from 'vitest'
import type { MessageFilter } from '../../domain/message/message-filter.ts'
import { countGroups, listGroups } from '../groups/group-list.ts'
import { hourlyByGroup } from '../groups/group-trend.ts'
import { countArrived, countAttempts } from '../history/activity-history.ts'
import { countSeenBefore, listOvertaken, listTargetParts } from '../readers/blast.ts'
import { surveyMessages } from '../runs/run-messages.ts'
import type { Sql } from '../sql.ts'
import { listNewerDeadLetters } from '../staleness/newer-dead-letters.ts'
import { countRecentFailures, oldestPendingOf } from '../topic-lists/topic-overview.ts'
import { topicWithin } from '../topic-within.ts'
import { countFacets } from './message-facets.ts'
import type { MessageSort } from './message-scan.ts'
import { countMessages, pageOfTopic, searchIds, searchMessages } from './message-search.ts'
import { listStoredTopics, resolveTopic } from './message-topic.ts'
import { countByValue } from './summary.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const groupId = '00000000-0000-8000-8000-000000000007'

beforeAll(async () => {
  await database.sql`
    insert into dlq.dlq_messages (
      id, original_topic, error_message, dlq_topic, consumer_group, group_id, record_key, record_value, status, next_retry_at, created_at)
    select
      (case place when 0 then '00000000-0000' when 1 then 'ffffffff-ffff'
                  else left(dlq.uuid_floor(now() + (place - 2) * interval '1 month')::text, 13) end
       || '-7' || right(gen_random_uuid()::text, 21))::uuid,
      'topic-' || topic, 'processing failed',
      case when topic = 9 and n % 3 = 0 then 'second-9.dlq.v1' else 'topic-' || topic || '.dlq.v1' end, 'group-' || n % 9,
      case when n % 3 > 0 then ('00000000-0000-8000-8000-' || lpad((n % 40)::text, 12, '0'))::uuid end,
      convert_to('customer-' || n % 50, 'UTF8'), convert_to(repeat('x', 300), 'UTF8'),
      case when n % 1000 = 0 then 'RETRYING' when n % 10 = 0 then 'PENDING' when n % 2 = 0 then 'DEAD' else 'RESOLVED' end,
      case when n % 20 = 0 then now() + (n - 10000) * interval '1 s' end,
      now() - n * interval '1 minute'
    from (
      select n, abs(hashint4(n)) % 50 as topic, n / 3334 as place from generate_series(1, 20000) n
    ) spread
    order by n`
  await database.sql`select dlq.fold_summary(100000)`
  // With the topics of this file alone, reading all of the totals would be as cheap as an index.
  await database.sql`
    insert into dlq.dlq_summary_totals (dlq_topic, original_topic, consumer_group, status, count)
    select 'other-' || n || '.dlq.v1', 'other-' || n, 'group', 'RESOLVED', 1 from generate_series(1, 5000) n`
  await database.sql`
    insert into dlq.dlq_summary (dlq_topic, original_topic, consumer_group, group_id, status, count)
    select 'other-' || n || '.dlq.v1', 'other-' || n, 'group-' || n, gen_random_uuid(), 'RESOLVED', 1 from generate_series(1, 5000) n`
  await database.sql`
    insert into dlq.dlq_summary_groups (group_id, pending, retrying, resolved, dead)
    select group_id, 0, 0, 1, 0 from dlq.dlq_summary where dlq_topic like 'other-%'`
  await database.sql`
    vacuum analyze dlq.dlq_messages, dlq.dlq_summary, dlq.dlq_summary_totals, dlq.dlq_summary_groups, dlq.dlq_summary_deltas`
  const rows = await database.sql<{ id: string }[]>`select id from dlq.dlq_messages where status = 'PENDING' limit 2000`
  someIds = rows.map(({ id }) => id)
})

const unfiltered = { filter: {}, topic: null, scope: null, sort: 'newest' as const }
const ofGroup = { ...unfiltered, filter: { group_id: groupId } }
const ofTopic = {
  ...unfiltered,
  filter: { topic: 'topic-7' },
  topic: { column: 'original_topic' as const, names: ['topic-7'], glob: null },
}
const ofDlqTopic = {
  ...unfiltered,
  topic: { column: 'dlq_topic' as const, names: ['topic-7.dlq.v1'], glob: null, isMixed: false },
}
const everyId = { afterId: null, untilId: 'ffffffff-ffff-ffff-ffff-ffffffffffff', limit: 100, examine: 500 }
let someIds: string[] = []
const stretches = { from: new Date(Date.now() - 86_400_000), stepMs: 3_600_000, steps: 24 }

const deep = {
  id: ['7fffffff-ffff-7fff-bfff-ffffffffffff'],
  time: ['2026-02-20 10:00:00.000001+00', 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
}
const range = { from: new Date(Date.now() - 5 * 86_400_000).toISOString() }

const byTopic = /_original_topic_status_id_idx$/

const searches: [title: string, index: RegExp, filter: MessageFilter, sort?: MessageSort, after?: readonly string[]][] =
  [
    ['no filter', /_pkey$/, {}],
    ['a deep page of no filter', /_pkey$/, {}, 'newest', deep.id],
    ['no index for its field', /_pkey$/, { consumer_group: 'group-3', q: 'failed' }],
    ['an original topic', byTopic, { topic: 'topic-7' }],
    ['an original topic, deep', byTopic, { topic: 'topic-7' }, 'newest', deep.id],
    ['an original topic and a status', byTopic, { topic: 'topic-7', status: ['DEAD'] }, 'oldest'],
    ['a DLQ topic', byTopic, { topic: 'topic-7.dlq.v1' }],
    ['a DLQ topic and a status, deep', byTopic, { topic: 'topic-7.dlq.v1', status: ['PENDING'] }, 'oldest', deep.id],
    ['a DLQ topic beside another one', byTopic, { topic: 'second-9.dlq.v1' }],
    ['a DLQ topic beside another one, and a status', byTopic, { topic: 'second-9.dlq.v1', status: ['DEAD'] }, 'oldest'],
    ['a glob of DLQ topics', byTopic, { topic: 'topic-4?.dlq.v1', status: ['DEAD'] }],
    ['a topic glob', byTopic, { topic: 'topic-4?', status: ['DEAD'] }],
    ['a status', /_\d\d_status_id_idx$/, { status: ['DEAD'] }],
    ['a status, deep', /_\d\d_status_id_idx$/, { status: ['DEAD'] }, 'oldest', deep.id],
    ['another status', byTopic, { status: ['RETRYING'] }],
    ['another status, deep', byTopic, { status: ['PENDING'] }, 'oldest', deep.id],
    ['other statuses', byTopic, { status: ['RESOLVED', 'PENDING'] }],
    ['another status, with a field that has no index', byTopic, { status: ['PENDING'], q: 'failed' }],
    [
      'two statuses, the first by its index, deep',
      /_\d\d_status_id_idx$/,
      { status: ['DEAD', 'PENDING'] },
      'newest',
      deep.id,
    ],
    ['a glob of many topics and a status', byTopic, { topic: 'topic-*', status: ['DEAD'] }],
    ['a glob of many topics and a status, deep', byTopic, { topic: 'topic-*', status: ['PENDING'] }, 'oldest', deep.id],
    ['a glob of topics and three statuses', byTopic, { topic: 'topic-4?', status: ['DEAD', 'PENDING', 'RETRYING'] }],
    ['two statuses, the second by topics', byTopic, { status: ['DEAD', 'PENDING'] }],
    ['a group', /_group_id_status_id_idx$/, { group_id: groupId }],
    ['a group and a status', /_group_id_status_id_idx$/, { group_id: groupId, status: ['PENDING'] }],
    ['a key', /_substring_id_idx$/, { key: 'customer-7' }],
    ['a time of arrival', /_pkey$/, { arrived_to: range.from }],
    ['a time of arrival of a topic', byTopic, { topic: 'topic-7', arrived_to: range.from }],
    ['a range of creation', /_created_at_idx$/, range],
    ['a range of creation, deep', /_created_at_idx$/, range, 'oldest', deep.time],
    ['what is due next of a topic', /_original_topic_next_retry_at_id_idx$/, { topic: 'topic-7' }, 'next_due'],
    ['what is due next of all topics', /_original_topic_next_retry_at_id_idx$/, {}, 'next_due'],
  ]

describe.each(planCacheModes)('with %s', (planCacheMode) => {
  test.each(searches)(
    'a search by %s goes along an index that ends in %s',
    async (_, index, filter, sort = 'newest', after) => {
      const filled = await partitionsWithRows(database.sql)
      const topic = filter.topic === undefined ? null : { ...(await resolveTopicOf(filter.topic)) }
      const search = { filter, topic, scope: null, sort }
      const plans = await plansOf(database.url, planCacheMode, async (sql) => {
        await searchMessages(sql, { search, after: after ?? null, limit: 21, examine: 500 })
        await searchMessages(sql, { search, after: after ?? null, backwards: true, limit: 21, examine: 500 })
        await countMessages(sql, { search, atMost: 100 })
        const { sort: _, ...selection } = search
        if (sort !== 'next_due')
          await searchIds(sql, { search: selection, afterId: null, untilId: deep.id[0]!, limit: 100, examine: 500 })
      })
      // The part for original topics that DLQ topics share does not run where none does.
      const isOfDlqTopic = topic?.column === 'dlq_topic'
      const nodes = plans.flatMap(nodesOf).filter((node) => isRun(node) || !isOfDlqTopic)
      const onFilled = nodes.filter((node) => filled.includes(node['Relation Name'] ?? ''))

      expect(filled.length).toBeGreaterThanOrEqual(4)
      expect(onFilled.length).toBeGreaterThan(0)
      // A bitmap has no order, so what it finds would have to be read as a whole and sorted. Of one key, and here of the
      // topic with two DLQ topics, there are fewer than the bound.
      const isFew = filter.key !== undefined || filter.topic === 'second-9.dlq.v1'
      const wanted = isFew ? /^(Index (Only )?|Bitmap Heap )Scan$/ : /^Index (Only )?Scan$/
      const others = onFilled.filter((node) => !wanted.test(node['Node Type']))
      expect(others.map((node) => `${node['Node Type']} of ${node['Relation Name']}`)).toEqual([])
      expect(
        nodes.some((node) => index.test(node['Index Name'] ?? '')),
        nodes.map((node) => node['Index Name']).join(),
      ).toBe(true)
      // The ids of several arms are sorted together, each arm up to its limit; never what an index gives without one.
      const unbounded = nodes.filter(
        (node) =>
          node['Node Type'] === 'Sort' &&
          !isFew &&
          nodesOf(node).some((below) => filled.includes(below['Relation Name'] ?? '')) &&
          !nodesOf(node).some((below) => below['Node Type'] === 'Limit'),
      )
      expect(unbounded).toEqual([])
    },
  )

  const overviews: [title: string, query: (sql: Sql) => Promise<unknown>][] = [
    ['the trend of groups', (sql) => hourlyByGroup(sql, { groupIds: [groupId], scope: null, now: new Date() })],
    [
      'what waits longest of topics',
      (sql) => oldestPendingOf(sql, { column: 'dlq_topic', topics: ['topic-7.dlq.v1'], scope: null }),
    ],
    ['who failed lately', (sql) => countRecentFailures(sql, { scope: null, examine: 100 })],
    [
      'the newest messages of facets',
      (sql) => countFacets(sql, { search: unfiltered, by: ['status'], examine: 100, limit: 9 }),
    ],
    ['what arrived', (sql) => countArrived(sql, { search: unfiltered, stretches, by: 'total' })],
    ['what is dead', (sql) => countArrived(sql, { search: unfiltered, stretches, by: 'total', dead: true })],
    ['what arrived, by group', (sql) => countArrived(sql, { search: unfiltered, stretches, by: 'group' })],
    ['what arrived of a group', (sql) => countArrived(sql, { search: ofGroup, stretches, by: 'total' })],
    ['what arrived of a topic, by group', (sql) => countArrived(sql, { search: ofTopic, stretches, by: 'group' })],
    ['what was sent of a topic', (sql) => countAttempts(sql, { search: ofTopic, stretches, by: 'total' })],
    [
      'the newest messages of facets of a group',
      (sql) => countFacets(sql, { search: ofGroup, by: ['status'], examine: 100, limit: 9 }),
    ],
    ['what a dry run would send', (sql) => listTargetParts(sql, { ids: someIds, scope: null, isForced: true })],
    ['what was read before', (sql) => countSeenBefore(sql, { ids: someIds, scope: null, isForced: true })],
    ['what a run finds', (sql) => surveyMessages(sql, { ids: someIds, scope: null, archived: false, sampleSize: 20 })],
    ['the groups', (sql) => listGroups(sql, { filter: {}, scope: null, after: null, limit: 10 })],
  ]
  test.each(overviews)('%s are read along indexes', async (_, query) => {
    const filled = await partitionsWithRows(database.sql)
    const nodes = (await plansOf(database.url, planCacheMode, query)).flatMap(nodesOf)
    const onFilled = nodes.filter((node) => filled.includes(node['Relation Name'] ?? ''))
    expect(onFilled.length).toBeGreaterThan(0)
    // Where there are fewer rows than the bound, a bitmap of them is as good.
    const wanted = /^(Index (Only )?|Bitmap Heap )Scan$/
    expect(onFilled.map((node) => node['Node Type']).filter((type) => !wanted.test(type))).toEqual([])
    // The primary key gives only the newest rows: with a condition it would pass over any number of rows.
    const filtered = onFilled.filter((node) => 'Filter' in node && /_pkey$/.test(node['Index Name'] ?? ''))
    expect(filtered).toEqual([])
  })

  test.each([
    ['original_topic', 'topic-7', 'dlq_summary_totals_key'],
    ['dlq_topic', 'topic-7.dlq.v1', 'idx_dlq_summary_totals_dlq_topic'],
    ['group_id', groupId, 'dlq_summary_groups_pkey'],
  ] as const)('the counts of one %s are added up along an index', async (column, value, index) => {
    const plans = await plansOf(database.url, planCacheMode, (sql) =>
      countByValue(sql, { column, values: [value], scope: null }),
    )
    const nodes = plans.flatMap(nodesOf)
    expect(nodes.map((node) => node['Index Name'] ?? '')).toContain(index)
    expect(nodes.filter((node) => node['Node Type'] === 'Seq Scan').map((node) => node['Relation Name'])).toEqual([
      'dlq_summary_deltas',
    ])
  })

  test.each([
    ['one DLQ topic', { dlqTopic: 'topic-7.dlq.v1' }, 'idx_dlq_summary_dlq_topic'],
    ['one consumer group', { consumerGroup: 'group-of-one' }, 'idx_dlq_summary_consumer_group'],
  ] as const)('the groups of %s are counted along an index', async (_, filter, index) => {
    const plans = await plansOf(database.url, planCacheMode, async (sql) => {
      await listGroups(sql, { filter, scope: null, after: null, limit: 10 })
      await countGroups(sql, { filter, scope: null, owner: 'maria', newSince: new Date() })
    })
    const nodes = plans.flatMap(nodesOf)
    expect(nodes.map((node) => node['Index Name'] ?? '')).toContain(index)
    const ofSummary = nodes.filter((node) => node['Relation Name'] === 'dlq_summary')
    expect(ofSummary.map((node) => node['Node Type']).filter((type) => type === 'Seq Scan')).toEqual([])
  })

  test.each<[title: string, (sql: Sql) => Promise<unknown>]>([
    [
      'a search',
      (sql) => searchIds(sql, { ...everyId, search: { ...ofDlqTopic, filter: { topic: 'topic-7.dlq.v1' } } }),
    ],
    [
      'a search of a status',
      (sql) =>
        searchIds(sql, {
          ...everyId,
          search: { ...ofDlqTopic, filter: { topic: 'topic-7.dlq.v1', status: ['DEAD'] } },
        }),
    ],
    [
      'the count',
      (sql) => countMessages(sql, { search: { ...ofDlqTopic, filter: { topic: 'topic-7.dlq.v1' } }, atMost: 100 }),
    ],
  ])('%s by a DLQ topic reads no row where its original topics have no messages of others', async (_, query) => {
    const filled = await partitionsWithRows(database.sql)
    const nodes = (await plansOf(database.url, planCacheMode, query)).flatMap(nodesOf).filter(isRun)
    const onFilled = nodes.filter((node) => filled.includes(node['Relation Name'] ?? ''))
    expect(onFilled.length).toBeGreaterThan(0)
    expect(new Set(onFilled.map((node) => node['Node Type']))).toEqual(new Set(['Index Only Scan']))
    expect(onFilled.filter((node) => !byTopic.test(node['Index Name'] ?? ''))).toEqual([])
  })

  test('a page deep in a DLQ topic passes over the messages before it without reading them', async () => {
    const filled = await partitionsWithRows(database.sql)
    const { topic } = ofDlqTopic
    const plans = await plansOf(database.url, planCacheMode, (sql) =>
      pageOfTopic(sql, { topic, scope: null, limit: 10, offset: 300 }),
    )
    const onFilled = plans
      .flatMap(nodesOf)
      .filter((node) => isRun(node) && filled.includes(node['Relation Name'] ?? ''))
    const ofRows = onFilled.filter((node) => node['Node Type'] !== 'Index Only Scan')
    expect(ofRows.length).toBeGreaterThan(0)
    // Ten rows, each looked up by its id in the one partition that has it.
    expect(ofRows.filter((node) => !/_pkey$/.test(node['Index Name'] ?? '') || node['Actual Loops'] > 10)).toEqual([])
  })

  test('a page for a token of some topics reads hardly more rows than it shows, and none behind the last page', async () => {
    const filled = await partitionsWithRows(database.sql)
    const { topic } = ofDlqTopic
    const rowsFor = async (offset: number) => {
      const plans = await plansOf(database.url, planCacheMode, (sql) =>
        pageOfTopic(sql, { topic, scope: ['topic-7*'], limit: 10, offset }),
      )
      const nodes = plans.flatMap(nodesOf).filter((node) => isRun(node) && filled.includes(node['Relation Name'] ?? ''))
      return nodes.filter((node) => node['Node Type'] !== 'Index Only Scan').map((node) => node['Actual Loops'])
    }
    const read = await rowsFor(0)
    expect(read.length).toBeGreaterThan(0)
    expect(read.filter((loops) => loops > 10)).toEqual([])
    expect(await rowsFor(1_000_000)).toEqual([])
  })

  test('a search for a token of few topics goes along their indexes, and reads no row of others', async () => {
    const filled = await partitionsWithRows(database.sql)
    const scope = ['topic-?', 'topic-7.dlq.v1']
    for (const status of [undefined, ['DEAD' as const]]) {
      const filter = status ? { status } : {}
      const topic = await topicWithin(service.sql, { filter, topic: null, scope })
      expect(topic?.names).toHaveLength(10)
      const search = { filter, topic, scope, sort: 'newest' as const }
      const plans = await plansOf(database.url, planCacheMode, async (sql) => {
        await searchMessages(sql, { search, after: null, limit: 21, examine: 500 })
        await searchMessages(sql, { search, after: deep.id, limit: 21, examine: 500 })
        await countFacets(sql, { search, by: ['status'], examine: 100, limit: 9 })
      })
      const nodes = plans.flatMap(nodesOf).filter(isRun)
      const onFilled = nodes.filter((node) => filled.includes(node['Relation Name'] ?? ''))
      const ofIndex = onFilled.filter((node) => node['Node Type'] === 'Index Only Scan')
      expect(ofIndex.length).toBeGreaterThan(0)
      expect(ofIndex.filter((node) => !byTopic.test(node['Index Name'] ?? ''))).toEqual([])
      const wanted = /^(Index (Only )?|Bitmap Heap )Scan$/
      expect(onFilled.map((node) => node['Node Type']).filter((type) => !wanted.test(type))).toEqual([])
      const removing = onFilled.filter((node) => (node['Rows Removed by Filter'] ?? 0) > 0)
      // Before 17 an index in order is not searched for one of several values: entries of other statuses are read, too.
      expect(postgresVersion < 17 ? removing.filter((node) => !ofIndex.includes(node)) : removing).toEqual([])
    }
  })

  test('the count of a range of time reads its index only', async () => {
    const search = { filter: range, topic: null, scope: null, sort: 'newest' as const }
    const plans = await plansOf(database.url, planCacheMode, (sql) => countMessages(sql, { search, atMost: 100 }))
    const scans = plans.flatMap(nodesOf).filter((node) => node['Relation Name'] !== undefined)
    expect(new Set(scans.map((node) => node['Node Type']))).toEqual(new Set(['Index Only Scan']))
  })

  test('newer dead letters of a key are found along the index of keys', async () => {
    const filled = await partitionsWithRows(database.sql)
    const message = {
      ...{ id: '00000000-0000-7000-8000-000000000000', original_topic: 'topic-7', original_partition: 0 },
      ...{ original_offset: 1n, record_key: Buffer.from('customer-7'), dlq_topic: 'topic-7.dlq' },
    }
    const plans = await plansOf(database.url, planCacheMode, (sql) =>
      listNewerDeadLetters(sql, { message, scope: null, seesKey: true, limit: 5 }),
    )
    const nodes = plans.flatMap(nodesOf)
    const onFilled = nodes.filter((node) => filled.includes(node['Relation Name'] ?? ''))
    // Fewer rows than the bound: a bitmap of them is as good.
    const wanted = /^(Index |Bitmap Heap )Scan$/
    expect(onFilled.map((node) => node['Node Type']).filter((type) => !wanted.test(type))).toEqual([])
    const indexes = nodes.flatMap((node) => node['Index Name'] ?? [])
    expect(indexes.length).toBeGreaterThan(0)
    expect(indexes.filter((name) => !/substring/.test(name))).toEqual([])
  })

  test('what newer dead letters overtook is found along the index of keys, for each message', async () => {
    const filled = await partitionsWithRows(database.sql)
    const rows = await database.sql<
      { id: string }[]
    >`select id from dlq.dlq_messages where status = 'PENDING' limit 200`
    const ids = rows.map(({ id }) => id)
    const plans = await plansOf(database.url, planCacheMode, (sql) =>
      listOvertaken(sql, { ids, scope: null, isForced: false, seesKeys: true, limit: 200 }),
    )
    // Of the two bounds, that over the keys; the other is over the messages, by their ids.
    const ofKeys = plans
      .flatMap(nodesOf)
      .filter((node) => node['Node Type'] === 'Limit')
      .map(nodesOf)
      .filter((nodes) => !nodes.some((node) => node['Node Type'] === 'Function Scan'))
      .flat()
    const scans = ofKeys.filter((node) => filled.includes(node['Relation Name'] ?? ''))
    expect(ids.length).toBe(200)
    expect(scans.length).toBeGreaterThanOrEqual(filled.length)
    // Fewer rows than the bound: a bitmap of them is as good.
    const wanted = /^(Index |Bitmap Heap )Scan$/
    expect(scans.map((node) => node['Node Type']).filter((type) => !wanted.test(type))).toEqual([])
    const indexes = ofKeys.flatMap((node) => node['Index Name'] ?? [])
    expect(indexes.filter((name) => !/substring/.test(name))).toEqual([])
  })

  test('the stored topics are read by steps from name to name, the DLQ topics from the counts', async () => {
    const filled = await partitionsWithRows(database.sql)
    const plans = await plansOf(database.url, planCacheMode, async (sql) => {
      expect(await listStoredTopics(sql, 'original_topic')).toHaveLength(50)
      const dlqTopics = await listStoredTopics(sql, 'dlq_topic')
      expect(dlqTopics.filter((name) => name.startsWith('topic-'))).toHaveLength(50)
    })
    const onFilled = plans.flatMap(nodesOf).filter((node) => filled.includes(node['Relation Name'] ?? ''))
    expect(onFilled.map((node) => node['Node Type']).filter((type) => !/^Index (Only )?Scan$/.test(type))).toEqual([])
  })
})

async function resolveTopicOf(topic: string) {
  const resolved = await resolveTopic(service.sql, topic)
  // None of these topics was found in Kafka.
  return topic.endsWith('.dlq.v1') ? { ...resolved, column: 'dlq_topic' as const } : resolved
}
