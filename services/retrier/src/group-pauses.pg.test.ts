// A burst of re-failures pauses its error group, one probe at a time finds out when it is over.

import { randomUUID } from 'node:crypto'
import { claimBatch } from 'dlq-core/queries/batches.ts'
import { takeSlot } from 'dlq-core/queries/slots.ts'
import { defaultRetryPolicy } from 'dlq-core/retry-policy.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { emptyTables } from 'dlq-testing/empty-tables.ts'
import { insertMessageRow, type MessageColumns, readMessageRow } from 'dlq-testing/message-rows.ts'
import { useServiceDatabase } from 'dlq-testing/service-database.ts'
import { useDatabase } from 'dlq-testing/test-database.ts'
import { beforeEach, expect, test } from 'vitest'
import { createGroupPauses, type GroupPauses } from './group-pauses.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const topic = 'orders'
const group = randomUUID()
const policy = { ...defaultRetryPolicy, refailureThreshold: 5, refailureWindowMs: 60_000 }
let pauses: GroupPauses

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_attempts', 'dlq.dlq_messages', 'dlq.dlq_group_pauses', 'dlq.dlq_slots')
  const log = createLog({ service: 'test', level: 'silent' })
  pauses = createGroupPauses({ sql: service.sql, log, loadPolicies: async () => {}, policyOf: () => policy })
})

const insert = (columns: MessageColumns = {}) =>
  insertMessageRow(database.sql, {
    ...{ original_topic: topic, group_id: group, retry_count: 1, next_retry_at: new Date(Date.now() - 1000) },
    ...columns,
  })

/** Messages of the group whose first attempt failed again some seconds ago. */
async function insertRefailures(count: number, { secondsAgo = 1, group_id = group } = {}): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    const id = await insert({ group_id, next_retry_at: new Date(Date.now() + 600_000) })
    await database.sql`
      insert into dlq.dlq_attempts (message_id, number, attempt_id, outcome, failed_again_at)
      values (${id}, 1, ${randomUUID()}, 'published', now() - ${secondsAgo}::int * interval '1 s')`
  }
}

async function claim(): Promise<string[]> {
  const slot = await takeSlot(service.sql, { owner: 'test', leaseMs: 60_000 })
  const share = { topic, quota: 100, maxInFlight: null, ordered: false, pausedGroups: pauses.ofTopic(topic) }
  const claimed = await claimBatch(service.sql, { ...slot, token: randomUUID(), shares: [share], maxBytes: 1e9 })
  return (claimed?.messages ?? []).map(({ id }) => id)
}

const probeOf = async () => (await database.sql`select * from dlq.dlq_group_pauses where resumed_at is null`)[0]

test('a burst pauses the group and says why; what others have due, and what is asked for, still goes', async () => {
  await insertRefailures(5)
  const [waiting, asked, other] = [
    await insert(),
    await insert({ next_retry_at: null }),
    await insert({ group_id: null }),
  ]
  await pauses.review()
  expect(pauses.ofTopic(topic)).toEqual([group])
  expect(await probeOf()).toMatchObject({ reason: '5 retries failed again within 60 s', probe_id: null })

  await database.sql`update dlq.dlq_messages set next_retry_at = now(), retry_requested = true where id = ${asked}`
  expect((await claim()).toSorted()).toEqual([asked, other].toSorted())
  // And what is paused has moved out of the way.
  expect((await readMessageRow(database.sql, waiting)).next_retry_at.getTime()).toBeGreaterThan(Date.now() + 30_000)
})

test('too few, too old, and those of several groups pause nothing', async () => {
  await insertRefailures(4)
  await insertRefailures(4, { secondsAgo: 120 })
  await insertRefailures(4, { group_id: randomUUID() })
  await pauses.review()
  expect(pauses.ofTopic(topic)).toEqual([])
})

test('a probe that comes back keeps the group paused, and for longer each time', async () => {
  await insertRefailures(5)
  await pauses.review()
  await database.sql`update dlq.dlq_group_pauses set probe_at = now() - interval '1 s'`
  await pauses.review()
  const { probe_id, probe_attempt } = (await probeOf())!
  expect(await claim()).toEqual([probe_id])
  expect(probe_attempt).toBe(2)

  await database.sql`
    insert into dlq.dlq_attempts (message_id, number, attempt_id, outcome, settled_at, failed_again_at)
    values (${probe_id}, ${probe_attempt}, ${randomUUID()}, 'published', now(), now())`
  const before = Date.now()
  await pauses.review()
  const pause = (await probeOf())!
  expect(pause).toMatchObject({ probe_id: null, failed_probes: 1 })
  expect(pause.probe_at.getTime()).toBeGreaterThanOrEqual(before + 120_000)
  expect(pause.probe_at.getTime()).toBeLessThanOrEqual(Date.now() + 120_000)
  expect(pauses.ofTopic(topic)).toEqual([group])
})

test('a probe that does not come back resumes the group, and its old re-failures do not pause it again', async () => {
  await insertRefailures(5)
  await pauses.review()
  await database.sql`update dlq.dlq_group_pauses set probe_at = now() - interval '1 s'`
  await pauses.review()
  const [probe] = await claim()
  await database.sql`update dlq.dlq_messages set status = 'RESOLVED' where id = ${probe!}`
  await database.sql`
    insert into dlq.dlq_attempts (message_id, number, attempt_id, outcome, settled_at)
    values (${probe!}, 2, ${randomUUID()}, 'published', now() - interval '61 s')`
  await pauses.review()
  await pauses.review()
  expect(pauses.ofTopic(topic)).toEqual([])

  await insertRefailures(5, { secondsAgo: 0 })
  await database.sql`update dlq.dlq_group_pauses set resumed_at = now() - interval '10 s'`
  await pauses.review()
  expect(pauses.ofTopic(topic)).toEqual([group])
})

test('a group of which nothing waits is resumed', async () => {
  await insertRefailures(5)
  await pauses.review()
  await database.sql`update dlq.dlq_messages set status = 'DEAD'`
  await database.sql`update dlq.dlq_group_pauses set probe_at = now() - interval '1 s'`
  await pauses.review()
  expect(pauses.ofTopic(topic)).toEqual([])
})
