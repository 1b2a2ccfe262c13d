// Re-failures pause their error group where they are most of its retries; probes find out when it is over.

import { randomUUID } from 'node:crypto'
import type { PolicyOf } from 'dlq-core/domain/retry/effective-policy.ts'
import { defaultRetryPolicy, type RetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import { listCountedTopics } from 'dlq-core/queries/groups/group-pauses.ts'
import { claimBatch } from 'dlq-core/queries/retry/batches.ts'
import { takeSlot } from 'dlq-core/queries/retry/slots.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, type MessageColumns, readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, expect, test } from 'vitest'
import { createGroupPauses, type GroupPauses } from './group-pauses.ts'
import { createRetryCounts, type RetryCounts } from './retry-counts.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const topic = 'orders'
const group = randomUUID()
const policy = { ...defaultRetryPolicy, refailureThreshold: 5, refailureWindowMs: 60_000 }
let pauses: GroupPauses
let retryCounts: RetryCounts

const pausesBy = (policy: RetryPolicy, policyOf: PolicyOf = () => policy): GroupPauses =>
  createGroupPauses({
    sql: service.sql,
    log: createLog({ service: 'test', level: 'silent' }),
    loadPolicies: async () => {},
    policyOf,
    retryCounts,
    now: () => new Date(),
  })

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_attempts', 'dlq.dlq_messages', 'dlq.dlq_slots')
  await emptyTables(database.sql, 'dlq.dlq_group_pauses', 'dlq.dlq_group_probes', 'dlq.dlq_group_retries')
  retryCounts = createRetryCounts()
  pauses = pausesBy(policy)
})

const insert = (columns: MessageColumns = {}) =>
  insertMessageRow(database.sql, {
    ...{ original_topic: topic, group_id: group, retry_count: 1, next_retry_at: new Date(Date.now() - 1000) },
    ...columns,
  })

/** Messages of the group whose first attempt failed again some seconds ago. */
async function insertRefailures(
  count: number,
  { secondsAgo = 1, group_id = group, afterMs = null as number | null } = {},
): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    const id = await insert({ group_id, next_retry_at: new Date(Date.now() + 600_000) })
    await database.sql`
      insert into dlq.dlq_attempts (message_id, number, attempt_id, outcome, failed_again_at, failed_again_topic, settled_at)
      select ${id}, 1, ${randomUUID()}, 'published', at, ${`${topic}.dlq.v1`}, at - ${afterMs}::int * interval '1 ms'
      from (select now() - ${secondsAgo}::int * interval '1 s' as at) failed`
  }
}

async function claim(): Promise<string[]> {
  const slot = await takeSlot(service.sql, { owner: 'test', leaseMs: 60_000 })
  const share = { topic, quota: 100, maxInFlight: null, ordered: false, pausedGroups: pauses.ofTopic(topic) }
  const claimed = await claimBatch(service.sql, { ...slot, token: randomUUID(), shares: [share], maxBytes: 1e9 })
  return (claimed?.messages ?? []).map(({ id }) => id)
}

const pauseOf = async () => (await database.sql`select * from dlq.dlq_group_pauses where resumed_at is null`)[0]
const probesOf = async () => [
  ...(await database.sql<{ message_id: string; attempt: number }[]>`
    select message_id, attempt from dlq.dlq_group_probes order by message_id`),
]

/** The group's probes are due, sent, and claimed. */
async function sendProbes(): Promise<string[]> {
  await database.sql`update dlq.dlq_group_pauses set probe_at = now() - interval '1 s'`
  await pauses.review()
  return claim()
}

/** The probe was published some time ago; `failed`: and failed again. */
async function settleProbe(id: string, { secondsAgo = 0, failed = false } = {}): Promise<void> {
  await database.sql`update dlq.dlq_messages set status = ${failed ? 'PENDING' : 'RESOLVED'} where id = ${id}`
  await database.sql`
    insert into dlq.dlq_attempts (message_id, number, attempt_id, outcome, settled_at, failed_again_at)
    values (${id}, 2, ${randomUUID()}, 'published', now() - ${secondsAgo}::int * interval '1 s', ${failed ? new Date() : null})`
}

test('a burst pauses the group with a reason; other groups’ messages, and requested ones, are still sent', async () => {
  await insertRefailures(5)
  const [waiting, asked, other] = [
    await insert(),
    await insert({ next_retry_at: null }),
    await insert({ group_id: null }),
  ]
  await pauses.review()
  expect(pauses.ofTopic(topic)).toEqual([group])
  expect(await pauseOf()).toMatchObject({ reason: '5 retries failed again within 60 s' })
  expect(await probesOf()).toEqual([])

  await database.sql`update dlq.dlq_messages set next_retry_at = now(), retry_requested = true where id = ${asked}`
  expect((await claim()).toSorted()).toEqual([asked, other].toSorted())
  // The paused messages were postponed.
  expect((await readMessageRow(database.sql, waiting)).next_retry_at.getTime()).toBeGreaterThan(Date.now() + 30_000)
})

test('a large backlog of a paused group is put off pass after pass, without waits between them', async () => {
  await insertRefailures(5)
  await database.sql`
    insert into dlq.dlq_messages (original_topic, error_message, group_id, retry_count, next_retry_at)
    select ${topic}, 'failed', ${group}, 1, now() - interval '1 hour' from generate_series(1, 2500)`
  const passes = []
  do passes.push((await pauses.review()).more)
  while (passes.at(-1))
  expect(passes).toEqual([true, true, true, false])
  expect(await claim()).toEqual([])
  const [due] = await database.sql`select count(*)::int as n from dlq.dlq_messages where next_retry_at <= now()`
  expect(due!.n).toBe(0)
})

/** Newer than all others: of another topic, or of this one and its group. */
async function flood({
  count,
  of = 'payments',
  group_id = randomUUID(),
}: {
  count: number
  of?: string
  group_id?: string
}) {
  await database.sql`
    with stored as (
      insert into dlq.dlq_messages (original_topic, error_message, group_id, retry_count, next_retry_at)
      select ${of}, 'failed', ${group_id}, 1, now() + interval '1 hour' from generate_series(1, ${count}) n
      returning id
    )
    insert into dlq.dlq_attempts (message_id, number, attempt_id, outcome, failed_again_at, failed_again_topic, settled_at)
    select id, 1, gen_random_uuid(), 'published', now(), ${`${of}.dlq.v1`}, now() from stored`
}

test('more re-failures of another DLQ topic than are counted hide no group', async () => {
  await insertRefailures(5, { secondsAgo: 30 })
  await flood({ count: 21_000 })
  await database.sql`analyze dlq.dlq_attempts`
  await pauses.review()
  expect(pauses.ofTopic(topic)).toEqual([group])
})

test('of a group with more re-failures than are counted, retries count from when re-failures do', async () => {
  // The one of another DLQ topic is older.
  await insertRefailures(1, { secondsAgo: 50 })
  await flood({ count: 21_000, of: topic, group_id: group })
  await database.sql`
    insert into dlq.dlq_group_retries (original_topic, group_id, began_at, published)
    values (${topic}, ${group}, now() - interval '50 s', 100000), (${topic}, ${group}, date_bin('10 s', now(), 'epoch'), 21000)`
  await pauses.review()
  expect(pauses.ofTopic(topic)).toEqual([group])
})

test('re-failures that are few, old, or of several groups pause no group', async () => {
  await insertRefailures(4)
  await insertRefailures(4, { secondsAgo: 120 })
  await insertRefailures(4, { group_id: randomUUID() })
  await pauses.review()
  expect(pauses.ofTopic(topic)).toEqual([])
})

test('a topic that an application pulls from is never paused', async () => {
  await insertRefailures(5)
  pauses = createGroupPauses({
    ...{ sql: service.sql, log: createLog({ service: 'test', level: 'silent' }), loadPolicies: async () => {} },
    ...{ policyOf: () => ({ ...policy, delivery: 'pull' }), retryCounts, now: () => new Date() },
  })
  await pauses.review()
  expect(await database.sql`select from dlq.dlq_group_pauses`).toHaveLength(0)
})

test('a share of re-failures below the policy’s pauses nothing, however many there are', async () => {
  await insertRefailures(9)
  for (let n = 0; n < 20; n += 1) retryCounts.add({ original_topic: topic, group_id: group })
  await pauses.review()
  expect(pauses.ofTopic(topic)).toEqual([])

  await insertRefailures(1)
  await pauses.review()
  expect(await pauseOf()).toMatchObject({ reason: '10 of 20 retries failed again within 60 s' })
})

test('of a long window all retries count, also those from before it had any re-failure', async () => {
  const long = createGroupPauses({
    ...{
      sql: service.sql,
      log: createLog({ service: 'test', level: 'silent' }),
      loadPolicies: async () => {},
      retryCounts,
      now: () => new Date(),
    },
    policyOf: () => ({ ...policy, refailureWindowMs: 6 * 3_600_000 }),
  })
  await database.sql`
    insert into dlq.dlq_group_retries (original_topic, group_id, began_at, published)
    values (${topic}, ${group}, now() - interval '2 hours', 1000)`
  await long.review()
  await insertRefailures(10)
  await long.review()
  expect(await pauseOf()).toBeUndefined()
})

test('probes that fail again keep the group paused, and for longer each time', async () => {
  await insertRefailures(6)
  await pauses.review()
  const claimed = await sendProbes()
  const probes = await probesOf()
  expect(probes.map(({ message_id }) => message_id)).toEqual(claimed.toSorted())
  expect(probes.map(({ attempt }) => attempt)).toEqual([2, 2, 2, 2, 2])

  // Half of the five are not enough.
  for (const probe of claimed.slice(0, 2)) await settleProbe(probe, { failed: true })
  await pauses.review()
  expect(await probesOf()).toHaveLength(5)
  await settleProbe(claimed[2]!, { failed: true })
  const before = Date.now()
  await pauses.review()
  const pause = (await pauseOf())!
  expect(pause).toMatchObject({ failed_probes: 1 })
  expect(await probesOf()).toEqual([])
  expect(pause.probe_at.getTime()).toBeGreaterThanOrEqual(before + 120_000)
  expect(pause.probe_at.getTime()).toBeLessThanOrEqual(Date.now() + 120_000)
  expect(pauses.ofTopic(topic)).toEqual([group])
})

test('probes that do not come back resume the group, and its old re-failures do not pause it again', async () => {
  await insertRefailures(5)
  await pauses.review()
  for (const probe of await sendProbes()) await settleProbe(probe, { secondsAgo: 61 })
  await pauses.review()
  await pauses.review()
  expect(pauses.ofTopic(topic)).toEqual([])
  expect(await probesOf()).toEqual([])

  await insertRefailures(5, { secondsAgo: 0 })
  await database.sql`update dlq.dlq_group_pauses set resumed_at = now() - interval '10 s'`
  await pauses.review()
  expect(pauses.ofTopic(topic)).toEqual([group])
})

test('a group whose re-failures come within seconds is resumed seconds after its probes', async () => {
  await insertRefailures(5, { afterMs: 1500 })
  await pauses.review()
  const claimed = await sendProbes()
  for (const probe of claimed) await settleProbe(probe, { secondsAgo: 4 })
  await pauses.review()
  expect(pauses.ofTopic(topic)).toEqual([group])
  await database.sql`update dlq.dlq_attempts set settled_at = settled_at - interval '1 s' where number = 2`
  await pauses.review()
  expect(pauses.ofTopic(topic)).toEqual([])
})

test('what is due meanwhile is put off no longer than until the probes have an answer', async () => {
  await insertRefailures(5, { afterMs: 500 })
  const waiting = await insert()
  await pauses.review()
  // Probed after six seconds, judged after two more; at least ten, and half as long again to spread them.
  const due = (await readMessageRow(database.sql, waiting)).next_retry_at.getTime() - Date.now()
  expect(due).toBeGreaterThan(8000)
  expect(due).toBeLessThan(16_000)
})

test('of all that a retrier has published, each group’s retries are written once', async () => {
  for (let n = 0; n < 3; n += 1) retryCounts.add({ original_topic: topic, group_id: group })
  await pauses.review()
  retryCounts.add({ original_topic: topic, group_id: group })
  await pauses.review()
  await pauses.review()
  const [row] = await database.sql`select sum(published)::int as published from dlq.dlq_group_retries`
  expect(row).toEqual({ published: 4 })
  await database.sql`update dlq.dlq_group_retries set began_at = began_at - interval '1 hour'`
  await pauses.review()
  expect(await database.sql`select from dlq.dlq_group_retries`).toHaveLength(0)
})

test('a group of which nothing waits is resumed', async () => {
  await insertRefailures(5)
  await pauses.review()
  await database.sql`update dlq.dlq_messages set status = 'DEAD'`
  await database.sql`update dlq.dlq_group_pauses set probe_at = now() - interval '1 s'`
  await pauses.review()
  expect(pauses.ofTopic(topic)).toEqual([])
})

test('probes that nobody has read prove nothing', async () => {
  await insertRefailures(5)
  await pauses.review()
  for (const probe of await sendProbes()) await settleProbe(probe, { secondsAgo: 61 })
  await database.sql`update dlq.dlq_messages set consumer_group = 'billing'`
  await database.sql`update dlq.dlq_attempts set target_topic = 'orders', target_partition = 0, target_offset = 7 where number > 1`
  const look = async (passed: number) => {
    await emptyTables(database.sql, 'dlq.dlq_readers', 'dlq.dlq_reader_partitions')
    await database.sql`
      insert into dlq.dlq_readers values ('orders', 'billing', 'Empty', 0, interval '1 m')`
    await database.sql`
      insert into dlq.dlq_reader_partitions values ('orders', 'billing', 0, ${passed}, 0, 100, ${passed})`
    await pauses.review()
  }
  await look(7)
  expect(await pauseOf()).toBeDefined()
  await look(8)
  expect(await pauseOf()).toBeUndefined()
})

test('probes prove nothing while dead letters of that time are not stored', async () => {
  await emptyTables(database.sql, 'dlq.dlq_topics', 'dlq.dlq_topic_partitions')
  await insertRefailures(5)
  await pauses.review()
  for (const probe of await sendProbes()) await settleProbe(probe, { secondsAgo: 61 })
  await database.sql`update dlq.dlq_messages set dlq_cluster = 'c', dlq_topic = 'orders.dlq.v1'`
  await database.sql`
    insert into dlq.dlq_topics (cluster, topic, partitions, looked_at) values ('c', 'orders.dlq.v1', 1, now() - interval '62 s')`
  await pauses.review()
  expect(await pauseOf()).toBeDefined()
  await database.sql`update dlq.dlq_topics set looked_at = now()`
  await pauses.review()
  expect(await pauseOf()).toBeUndefined()
})

test('a probe that is held, or that a run has taken, is none any more: others are sent', async () => {
  await insertRefailures(5)
  await pauses.review()
  await database.sql`update dlq.dlq_group_pauses set probe_at = now() - interval '1 s'`
  await pauses.review()
  const [held, taken, ...rest] = (await probesOf()).map(({ message_id }) => message_id)
  expect(rest).toHaveLength(3)
  await database.sql`
    update dlq.dlq_messages set next_retry_at = null, retry_requested = false where id in ${database.sql([held!, ...rest])}`
  await database.sql`update dlq.dlq_messages set run_id = ${randomUUID()} where id = ${taken!}`
  const other = await insert()
  await pauses.review()
  await pauses.review()
  expect(await probesOf()).toEqual([{ message_id: other, attempt: 2 }])
})

test('where order is kept per key, a message that waits for an earlier one of its key is no probe', async () => {
  await insertRefailures(6)
  await database.sql`
    update dlq.dlq_messages m set order_key = 7, original_partition = 0, original_offset = place,
      next_retry_at = now() + case when place = 1 then interval '1 hour' else interval '1 minute' end
    from (select id, row_number() over (order by id) as place from dlq.dlq_messages) placed where m.id = placed.id`
  const ordered = pausesBy({ ...policy, ordering: 'per-key' })
  await ordered.review()
  await database.sql`update dlq.dlq_group_pauses set probe_at = now() - interval '1 s'`
  await ordered.review()
  const [first] = await database.sql`select id from dlq.dlq_messages where original_offset = 1`
  expect(await probesOf()).toEqual([{ message_id: first!.id, attempt: 2 }])
})

test('a probe that somebody resolves by hand before it is sent is none any more', async () => {
  await insertRefailures(5)
  await pauses.review()
  await database.sql`update dlq.dlq_group_pauses set probe_at = now() - interval '1 s'`
  await pauses.review()
  await database.sql`
    update dlq.dlq_messages set status = 'RESOLVED' where id in (select message_id from dlq.dlq_group_probes)`
  await pauses.review()
  expect(await probesOf()).toEqual([])
})

test('the policy of another topic that has the group as well ends no pause', async () => {
  const own = { dlq_topic: `${topic}.dlq.v1`, original_topic: topic }
  await database.sql`insert into dlq.dlq_routes ${database.sql({ ...own, state: 'by_name' })}`
  await database.sql`
    insert into dlq.dlq_groups (id, version, title, message) values (${group}, 1, 'Late', '') on conflict do nothing`
  for (const dlq_topic of ['a.dlq.v1', own.dlq_topic, 'z.dlq.v1'])
    await database.sql`insert into dlq.dlq_group_topics ${database.sql({ dlq_topic, group_id: group })}`
  pauses = pausesBy(policy, ({ dlq_topic }) => ({
    ...policy,
    refailureThreshold: dlq_topic === null || dlq_topic === own.dlq_topic ? 5 : null,
  }))
  await insertRefailures(5)
  retryCounts.add({ original_topic: topic, group_id: group })
  await pauses.review()
  expect(pauses.ofTopic(topic)).toEqual([group])
  expect(await listCountedTopics(service.sql)).toEqual([own])
})
