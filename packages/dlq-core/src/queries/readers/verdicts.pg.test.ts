// What the offsets of consumer groups say of a published attempt: the records at offsets 0 to 9 of orders/0.

import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { countRunVerdicts } from 'dlq-testing/rows/run-verdicts.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { countCameBack, countRises, type Rise } from './count-verdicts.ts'
import {
  askForLook,
  listStoredUntil,
  noteLook,
  recordReaders,
  recordVerdictGroups,
  type SeenReader,
  takeLook,
} from './reader-watch.ts'
import { listTopicReaders } from './verdicts.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const topic = 'orders'
const settledAt = new Date(Date.now() - 60_000)

beforeEach(async () => {
  await emptyTables(
    database.sql,
    'dlq.dlq_readers',
    'dlq.dlq_reader_partitions',
    'dlq.dlq_reader_gaps',
    'dlq.dlq_reader_topics',
  )
  await emptyTables(database.sql, 'dlq.dlq_attempts', 'dlq.dlq_messages')
})

const noRates = {
  ...{ per_second: null, best_per_second: null, best_at: null, produced_per_second: null, measured_from: null },
}

type Wanted = Partial<Omit<SeenReader, 'partitions' | 'rates'>> & Partial<SeenReader['partitions'][number]>

async function seen(consumer_group: string, wanted: Wanted = {}): Promise<void> {
  const {
    type = 'classic',
    state = 'Stable',
    members = 1,
    has_commits = true,
    horizonMs = 150_000,
    ...partition
  } = wanted
  const reader = { target_topic: topic, consumer_group }
  await recordReaders(service.sql, {
    began_at: new Date().toISOString(),
    readers: [
      {
        ...{ ...reader, type, state, members, has_commits, horizonMs, rates: noRates },
        partitions: [
          {
            ...{ ...reader, partition: 0, committed_offset: 0n, log_start_offset: 0n, log_end_offset: 10n },
            ...{ passed_offset: 0n, settled_offset: 0n, marks: [], is_rewound: false, gap: null },
            ...partition,
          },
        ],
      },
    ],
  })
}

type Asked = Partial<{
  group: string | null
  offset: number | null
  failedAgain: boolean
  confirmed: boolean
  settledAt: Date
}>

async function verdict({
  group = 'billing',
  offset = 5,
  failedAgain = false,
  confirmed = false,
  ...asked
}: Asked = {}) {
  const [row] = await service.sql`
    select verdict, verdict_reason as reason, judged_by from dlq.verdict(
      ${group}, ${topic}, 0, ${offset}, ${asked.settledAt ?? settledAt}, ${failedAgain ? new Date() : null},
      ${confirmed ? new Date() : null})`
  return { ...row! }
}

test('a record is sent until its group has committed past it', async () => {
  await seen('billing', { committed_offset: 5n, passed_offset: 5n })
  expect(await verdict()).toEqual({ verdict: 'sent', reason: null, judged_by: 'billing' })
  await seen('billing', { committed_offset: 6n, passed_offset: 6n })
  expect(await verdict()).toMatchObject({ verdict: 'passed' })
  await seen('billing', { passed_offset: 10n, settled_offset: 6n })
  expect(await verdict()).toMatchObject({ verdict: 'consumed' })
  expect(await verdict({ failedAgain: true })).toMatchObject({ verdict: 'came_back' })
})

test('another group that has read it says nothing of the group that failed', async () => {
  await seen('billing')
  await seen('search', { passed_offset: 10n, settled_offset: 10n })
  expect(await verdict()).toMatchObject({ verdict: 'sent', judged_by: 'billing' })
  expect(await verdict({ group: 'search' })).toMatchObject({ verdict: 'consumed' })
})

test('where the group is not known, all groups that read the topic now have to pass it', async () => {
  await seen('billing', { passed_offset: 10n, settled_offset: 10n })
  await seen('search', { passed_offset: 2n })
  await seen('gone-by', { members: 0 })
  expect(await verdict({ group: null })).toEqual({ verdict: 'sent', reason: null, judged_by: 'billing, search' })
  await seen('search', { passed_offset: 6n })
  expect(await verdict({ group: null })).toMatchObject({ verdict: 'passed' })
})

test('the policy’s verdict group judges attempts of a group that is not known', async () => {
  await seen('billing')
  await seen('search', { passed_offset: 10n })
  const readers = (consumer_group: string) => [{ target_topic: topic, consumer_group }]
  await recordVerdictGroups(service.sql, { topics: [topic], judges: readers('search') })
  expect(await verdict({ group: null })).toEqual({ verdict: 'passed', reason: null, judged_by: 'search' })
  expect(await verdict({ group: 'renamed' })).toMatchObject({ judged_by: 'search' })
  expect(await verdict({ group: 'billing' })).toMatchObject({ verdict: 'sent', judged_by: 'billing' })
  await recordVerdictGroups(service.sql, { topics: [topic], judges: readers('nobody') })
  expect(await verdict({ group: null })).toMatchObject({ judged_by: 'billing, search' })
  await recordVerdictGroups(service.sql, { topics: [topic], judges: [] })
  expect(await database.sql`select from dlq.dlq_reader_topics`).toHaveLength(0)
})

test('what the consumer has confirmed is done, unless it came back', async () => {
  expect(await verdict({ confirmed: true })).toEqual({ verdict: 'confirmed', reason: null, judged_by: null })
  expect(await verdict({ confirmed: true, failedAgain: true })).toMatchObject({ verdict: 'came_back' })
})

test('what was jumped over was not read', async () => {
  await seen('billing', { state: 'Empty', members: 0, passed_offset: 8n, gap: { from_offset: 3n, to_offset: 8n } })
  expect(await verdict()).toMatchObject({ verdict: 'skipped', reason: null })
  expect(await verdict({ offset: 2 })).toMatchObject({ verdict: 'passed' })
  expect(await verdict({ offset: 8 })).toMatchObject({ verdict: 'sent' })
})

test('what retention deleted before it was read has expired', async () => {
  await seen('billing', { log_start_offset: 6n, passed_offset: 3n })
  expect(await verdict()).toMatchObject({ verdict: 'expired' })
})

describe('what cannot be told says why', () => {
  test.each<[string, Wanted | null, object]>([
    ['no_place', {}, { offset: null }],
    ['no_group', null, {}],
    ['not_allowed', { state: 'not_allowed', members: null, committed_offset: null }, {}],
    ['group_gone', { state: 'Dead', members: 0, committed_offset: null }, {}],
    ['new_topic', { log_end_offset: 3n }, {}],
    ['share_group', { type: 'share' }, {}],
    ['no_commits', { has_commits: false, committed_offset: null }, { settledAt: new Date(Date.now() - 7_200_000) }],
  ])('%s', async (reason, reader, asked) => {
    if (reader !== null) await seen('billing', reader)
    expect(await verdict(asked)).toMatchObject({ verdict: 'unknown', reason })
  })
})

test('the verdicts of a run are counted', async () => {
  await seen('billing', { committed_offset: 4n, passed_offset: 4n, settled_offset: 2n })
  const run = crypto.randomUUID()
  for (let offset = 0; offset < 6; offset += 1) {
    const id = await insertMessageRow(database.sql, { original_topic: topic, consumer_group: 'billing' })
    await database.sql`
      insert into dlq.dlq_attempts ${database.sql({
        ...{ message_id: id, number: 1, attempt_id: crypto.randomUUID(), run_id: run, outcome: 'published' },
        ...{ target_topic: topic, target_partition: 0, target_offset: offset, settled_at: settledAt },
        failed_again_at: offset === 0 ? new Date() : null,
      })}`
  }
  expect(await countRunVerdicts(service.sql, run)).toEqual({
    ...{ sent: 2, passed: 2, consumed: 1, confirmed: 0, came_back: 1, skipped: 0, expired: 0, unknown: 0 },
  })
})

test('a rise is counted in pieces, for the group of each attempt', async () => {
  await seen('billing')
  await seen('search')
  for (const [offset, group] of ['billing', 'billing', 'search', null, 'billing'].entries()) {
    const id = await insertMessageRow(database.sql, { original_topic: topic, consumer_group: group })
    await database.sql`
      insert into dlq.dlq_attempts ${database.sql({
        ...{ message_id: id, number: 1, attempt_id: crypto.randomUUID(), outcome: 'published' },
        ...{ target_topic: topic, target_partition: 0, target_offset: offset, settled_at: settledAt },
        failed_again_at: offset === 4 ? new Date() : null,
      })}`
  }
  const rise: Rise = {
    ...{ target_topic: topic, consumer_group: 'billing', partition: 0 },
    ...{ verdict: 'passed', from: 0n, to: 10n, isFirst: false },
  }
  const count = (rises: Rise[], limit = 100) => countRises(service.sql, { rises, limit })
  // The attempt without a group is counted for the first group by name.
  expect(await count([rise, { ...rise, consumer_group: 'search' }])).toEqual([
    { verdict: 'passed', count: 3, next: null },
    { verdict: 'passed', count: 1, next: null },
  ])
  expect(await count([rise], 2)).toEqual([{ verdict: 'passed', count: 2, next: 2n }])
  expect(await count([{ ...rise, from: 2n }], 2)).toEqual([{ verdict: 'passed', count: 1, next: 4n }])
  await database.sql`update dlq.dlq_attempts set settled_at = now() - interval '2 hours'`
  expect(await count([{ ...rise, isFirst: true }])).toMatchObject([{ count: 0 }])
  await seen('billing', { gap: { from_offset: 1n, to_offset: 3n } })
  expect(await count([{ ...rise, verdict: 'consumed' }])).toMatchObject([{ count: 2 }])
  const [{ until }] = (await database.sql`select (now() + interval '1 minute')::text as until`) as never as [
    { until: string },
  ]
  expect(await countCameBack(service.sql, { after: '2020-01-01', until })).toBe(1)
})

test('the readers of a topic have their lag', async () => {
  await seen('billing', { committed_offset: 4n })
  await seen('search', { committed_offset: null, members: 2 })
  expect(await listTopicReaders(service.sql, topic)).toMatchObject([
    { consumer_group: 'billing', lag: 6n, members: 1, partitions: 1, read_partitions: 1 },
    { consumer_group: 'search', lag: null, members: 2, partitions: 1, read_partitions: 0 },
  ])
})

describe('a look', () => {
  test('is taken by one retrier, and again when it is due', async () => {
    await database.sql`update dlq.dlq_reader_watch set look_due_at = now(), looked_at = null`
    const taken = await Promise.all([1, 2, 3].map(() => takeLook(service.sql, { everyMs: 60_000 })))
    const [beganAt] = taken.filter((began) => began !== null)
    expect(taken.filter((began) => began !== null)).toHaveLength(1)
    await noteLook(service.sql, { began_at: beganAt! })
    expect(await takeLook(service.sql, { everyMs: 60_000 })).toBeNull()
    await askForLook(service.sql, { withinMs: 0 })
    expect(await takeLook(service.sql, { everyMs: 60_000 })).not.toBeNull()
  })

  test('a topic is stored until the last look at all of its DLQ topics, where nothing of them waits', async () => {
    await emptyTables(database.sql, 'dlq.dlq_topics', 'dlq.dlq_topic_partitions', 'dlq.dlq_positions')
    const lookedAt = new Date('2030-01-01T00:01:00Z')
    await database.sql`
      insert into dlq.dlq_topics (cluster, topic, partitions, looked_at) values ('c', 'orders.dlq.v1', 1, ${lookedAt})`
    await database.sql`insert into dlq.dlq_topic_partitions values ('c', 'orders.dlq.v1', 0, 2, 5)`
    const until = async () => (await listStoredUntil(service.sql, { topics: [topic], lookMs: 1000 })).get(topic)
    expect(await until()).toBeUndefined()
    await database.sql`insert into dlq.dlq_positions (cluster, topic, partition, next_offset) values ('c', 'orders.dlq.v1', 0, 5)`
    expect(await until()).toBe(lookedAt.getTime() - 1000)
  })
})
