// What a message's retry, or a person, relies on is on disk before PostgreSQL says so, also where the server, the database
// or the role has synchronous_commit = off. That nothing is sent twice then: exactly-once.kafka.test.ts.

import { randomUUID } from 'node:crypto'
import { claimBatch } from 'dlq-core/queries/retry/batches.ts'
import { takeSlot } from 'dlq-core/queries/retry/slots.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertDueRows } from 'dlq-testing/rows/due-rows.ts'
import { beforeAll, beforeEach, expect, test } from 'vitest'

const database = useDatabase()
const service = useServiceDatabase(database)
const owner = { owner: 'test', leaseMs: 60_000 }

beforeAll(async () => {
  await database.sql`insert into dlq.dlq_policies (pattern, delivery) values ('pulled', 'pull')`
})

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_slots', 'dlq.dlq_messages')
  await insertDueRows(database.sql, { count: 3, topics: ['orders', 'pulled'] })
})

/** How the transaction commits that does this first, where the session has `setting`. */
async function commitAfter(change: (sql: Sql) => Promise<unknown>, setting = 'off'): Promise<string> {
  return service.sql.begin(async (sql) => {
    await sql`select set_config('synchronous_commit', ${setting}, true)`
    await change(sql)
    const [row] = await sql<[{ synchronous_commit: string }]>`show synchronous_commit`
    return row.synchronous_commit
  })
}

const changes: Record<string, (sql: Sql) => Promise<unknown>> = {
  'a slot that is taken': (sql) => takeSlot(sql, owner),
  'a claim': async (sql) => {
    const slot = await takeSlot(service.sql, owner)
    const share = { topic: 'orders', quota: 1, maxInFlight: null, ordered: false, pausedGroups: [] }
    const claimed = await claimBatch(sql, { ...slot, token: randomUUID(), shares: [share], maxBytes: 1_000_000 })
    expect(claimed?.messages).toHaveLength(1)
  },
  'a claim by a program': (sql) => sql`select from dlq.claim_messages('pulled')`,
  'a message of a program': (sql) => sql`select dlq.dead_letter('pulled', '{}', 'boom')`,
  'a message that is changed by SQL': (sql) => sql`update dlq.dlq_messages set next_retry_at = now()`,
  'a message that is deleted by SQL': (sql) => sql`delete from dlq.dlq_messages`,
  'an entry of the audit': (sql) => sql`
    insert into dlq.dlq_audit (actor, role, request_id, action, target_type, target_id)
    values ('ada', 'admin', 'request', 'policy.put', 'policy', 'orders')`,
}

test.each(Object.entries(changes))('%s waits for the disk', async (_, change) => {
  expect(await commitAfter(change)).toBe('on')
})

test('what waits for standbys otherwise still does so', async () => {
  const change = (sql: Sql) => sql`update dlq.dlq_messages set next_retry_at = now()`
  for (const setting of ['local', 'remote_write', 'remote_apply', 'on'])
    expect(await commitAfter(change, setting)).toBe(setting)
})

test('a transaction that only reads waits for nothing', async () => {
  expect(await commitAfter((sql) => sql`select from dlq.dlq_messages`)).toBe('off')
})
