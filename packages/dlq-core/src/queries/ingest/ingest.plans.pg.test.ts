// The plans of the ingester's queries for each batch. Each goes along an index and never reads a growing table as a
// whole, so that ingestion costs the same however many messages are stored, archived or retried.
import { randomUUID } from 'node:crypto'
import { blocksOf, nodesOf, planCacheModes, plansOf } from 'dlq-testing/postgres/statement-plans.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { beforeAll, describe, expect, test } from 'vitest'
import { admitGroups, touchGroups } from '../groups/admit-groups.ts'
import type { Sql } from '../sql.ts'
import { restoreArchived } from '../upkeep/archive.ts'
import { findAttemptsByPlace, findTopicsOfUnplaced } from './message-correlate.ts'
import { countFailures, recordFailedAgain } from './message-reopen.ts'
import { listPositions, lockPosition, movePosition, resetPosition } from './positions.ts'
import { recordLogBounds } from './topic-partitions.ts'

const database = useDatabase()
const cluster = 'c'
const toOriginal = ({ original_topic }: { original_topic: string }) => original_topic

beforeAll(async () => {
  const { sql } = database
  await sql`
    insert into dlq.dlq_messages (id, original_topic, error_message, record_value, status)
    select (case place when 0 then '00000000-0000' when 1 then 'ffffffff-ffff'
                       else left(dlq.uuid_floor(now() + (place - 2) * interval '1 month')::text, 13) end
            || '-7' || right(gen_random_uuid()::text, 21))::uuid,
           'topic-' || n % 50, 'failed', convert_to(repeat('x', 200), 'UTF8'),
           case when n % 1000 = 0 then 'RETRYING' when n % 2 = 0 then 'DEAD' else 'RESOLVED' end
    from (select n, abs(hashint4(n)) % 6 as place from generate_series(1, 20000) n) spread`
  await sql`
    insert into dlq.dlq_messages_archive (id, original_topic, error_message, record_value, archived_at)
    select gen_random_uuid(), 'topic-1', 'failed', convert_to(repeat('x', 200), 'UTF8'), now() - n % 2 * interval '90 days'
    from generate_series(1, 10000) n`
  // A retrier that died made one attempt in a thousand.
  await sql`
    insert into dlq.dlq_attempts (message_id, number, attempt_id, outcome, target_topic, target_partition, target_offset, settled_at)
    select gen_random_uuid(), 1, gen_random_uuid(), 'published', 'topic-' || n % 50, n % 8,
           case when n % 1000 > 0 then n end, now()
    from generate_series(1, 20000) n`
  await sql`
    insert into dlq.dlq_positions (cluster, topic, partition, next_offset)
    select ${cluster}, 'topic-' || n / 8 || '.dlq.v1', n % 8, n from generate_series(1, 5000) n`
  await sql`
    insert into dlq.dlq_topic_partitions (cluster, topic, partition, log_start_offset, log_end_offset)
    select cluster, topic, partition, 0, next_offset from dlq.dlq_positions`
  await sql`
    insert into dlq.dlq_groups (id, version, message, title, last_seen_at)
    select gen_random_uuid(), 1, 'message ' || n, 'title ' || n, now() - interval '1 day' from generate_series(1, 5000) n`
  await sql`
    insert into dlq.dlq_group_topics (dlq_topic, group_id)
    select 'topic-' || n * 50 || '.dlq.v1', id from dlq.dlq_groups cross join generate_series(1, 10) n`
  await sql`vacuum analyze dlq.dlq_messages, dlq.dlq_messages_archive, dlq.dlq_attempts, dlq.dlq_positions,
    dlq.dlq_topic_partitions, dlq.dlq_groups, dlq.dlq_group_topics`
})

const ids = Array.from({ length: 100 }, () => randomUUID())
const places = ids.map((_, n) => ({ topic: `topic-${n % 50}`, partition: n % 8, offset: BigInt(n) }))
const partition = { cluster, topic: 'topic-7.dlq.v1', partition: 3 }
const failedAgain = ids.map((message_id) => ({
  ...{ message_id, number: 1, attempt_id: message_id, cluster, topic: 'topic-7.dlq.v1', partition: 3, offset: 1n },
  ...{ error_class: null, error_message: 'again', error_changed: false, group_id: null },
}))
const fingerprints = ids.map((id) => ({
  ...{ id, version: 1, errorClass: null, location: null, message: 'new', title: 'new' },
}))
const groups = fingerprints.map((group) => ({ topic: 'topic-7.dlq.v1', group }))

/** Without an index: the statement finds its rows by a conflict alone, which needs no plan node. */
const queries: [title: string, index: RegExp | null, query: (sql: Sql) => Promise<unknown>][] = [
  ['the lock on a position', /^dlq_positions_pkey$/, (sql) => lockPosition(sql, partition)],
  ['the move of a position', /^dlq_positions_pkey$/, (sql) => movePosition(sql, { ...partition, next_offset: 9n })],
  ['the reset of a position', null, (sql) => resetPosition(sql, { ...partition, next_offset: 9n })],
  [
    'the list of positions of the topics assigned',
    /^dlq_positions_pkey$/,
    (sql) => listPositions(sql, { cluster, topics: ['topic-7.dlq.v1', 'topic-8.dlq.v1'] }),
  ],
  [
    'the look for attempts that went to these places',
    /^idx_dlq_attempts_target$/,
    (sql) => findAttemptsByPlace(sql, places),
  ],
  [
    'the look for attempts whose place is not known',
    /^idx_dlq_attempts_unplaced$/,
    (sql) => findTopicsOfUnplaced(sql, ['topic-49', 'topic-elsewhere'], toOriginal),
  ],
  [
    'the look for messages that retriers hold',
    /_lease_slot_lease_batch_idx$/,
    (sql) => findTopicsOfUnplaced(sql, ['topic-elsewhere'], toOriginal),
  ],
  [
    'the look for messages that programs hold',
    /_lease_until_idx$/,
    (sql) => findTopicsOfUnplaced(sql, ['topic-elsewhere'], toOriginal),
  ],
  ['the note that attempts failed again', null, (sql) => recordFailedAgain(sql, failedAgain)],
  ['the count of late failures', /_pkey$/, (sql) => countFailures(sql, ids)],
  [
    'the return of archived messages',
    /^dlq_messages_archive_.*_pkey$|^dlq_messages_archive_.*_id_.*idx$/,
    (sql) => restoreArchived(sql, ids),
  ],
  ['the making and the admission of groups', /^dlq_group_topics_pkey$/, (sql) => admitGroups(sql, groups)],
  [
    'the touch of groups',
    /^dlq_groups_pkey$/,
    (sql) =>
      touchGroups(
        sql,
        ids.slice(0, 10).map((group_id) => ({ topic: 'topic-50.dlq.v1', group_id })),
      ),
  ],
  [
    'the note of where logs end',
    null,
    (sql) =>
      recordLogBounds(sql, {
        cluster,
        bounds: [{ topic: partition.topic, partition: 3, log_start_offset: 0n, log_end_offset: 99n }],
        unread: [],
      }),
  ],
]

async function filledTables(): Promise<string[]> {
  const rows = await database.sql<{ relname: string }[]>`
    select relname from pg_class
    where relnamespace = 'dlq'::regnamespace and relkind = 'r' and reltuples > 1000`
  return rows.map(({ relname }) => relname)
}

describe.each(planCacheModes)('with %s', (planCacheMode) => {
  test.each(queries)('%s follows its index (%s) and reads no table as a whole', async (_, index, query) => {
    const filled = await filledTables()
    const nodes = (await plansOf(database.url, planCacheMode, query)).flatMap(nodesOf)

    expect(filled.length).toBeGreaterThanOrEqual(10)
    expect(nodes.length).toBeGreaterThan(0)
    const whole = nodes.filter(
      (node) => node['Node Type'].endsWith('Seq Scan') && filled.includes(node['Relation Name'] ?? ''),
    )
    expect(whole.map((node) => node['Relation Name'])).toEqual([])
    if (index === null) return
    const indexes = nodes.map((node) => node['Index Name'] ?? '')
    expect(
      indexes.some((name) => index.test(name)),
      indexes.join(),
    ).toBe(true)
  })
})

describe.each(planCacheModes)('with %s, and a partition that was never analyzed', (planCacheMode) => {
  const fresh = useDatabase()

  test('the look for what is being retried reads no row where nothing is', async () => {
    const { sql } = fresh
    await sql`
      insert into dlq.dlq_messages (original_topic, error_message, record_value)
      select 'topic-' || n % 50, 'failed', convert_to(repeat('x', 200), 'UTF8') from generate_series(1, 20000) n`
    const [plan] = await plansOf(fresh.url, planCacheMode, (sql) =>
      findTopicsOfUnplaced(sql, ['topic-elsewhere'], toOriginal),
    )
    const indexes = nodesOf(plan!).map((node) => node['Index Name'] ?? '')
    expect(indexes.some((name) => /_lease_slot_lease_batch_idx$/.test(name))).toBe(true)
    // The smallest index of all rows has 80 pages, and the topics' one 200.
    expect(blocksOf(plan!)).toBeLessThan(60)
  })
})
