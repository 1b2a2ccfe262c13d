// The sweep of expired leases of applications that claimed by SQL.

import { randomUUID } from 'node:crypto'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, type MessageColumns, readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { releaseExpiredLeases } from './expired-leases.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_messages')
})

const ago = (seconds: number) => new Date(Date.now() - seconds * 1000)
const insertDue = (columns: MessageColumns = {}) =>
  insertMessageRow(database.sql, { next_retry_at: ago(60), ...columns })
const read = (id: string) => readMessageRow(database.sql, id)

/** A row that a program has claimed by SQL. */
const insertLeased = (leaseUntil: Date, columns: MessageColumns = {}) =>
  insertDue({ status: 'RETRYING', retry_count: 1, lease_token: randomUUID(), lease_until: leaseUntil, ...columns })

describe('the sweep', () => {
  test('ends expired leases: the attempt has failed, and the policy or the budget decides the next state', async () => {
    const expired = await insertLeased(ago(1), { next_retry_at: ago(3600) })
    const spent = await insertLeased(ago(1), { retry_count: 3 })
    const held = await insertLeased(ago(-60))
    const ofSlot = await insertLeased(ago(1), { lease_slot: 1, lease_batch: 1 })

    expect(await releaseExpiredLeases(service.sql, { limit: 10 })).toBe(2)
    const row = await read(expired)
    expect(row).toMatchObject({ status: 'PENDING', retry_count: 1, lease_token: null, lease_until: null })
    // The second attempt comes within 20 minutes, and not at once.
    expect(row.next_retry_at.getTime() - row.updated_at.getTime()).toBeGreaterThan(60_000)
    expect(row.next_retry_at.getTime() - row.updated_at.getTime()).toBeLessThan(20 * 60_000)
    expect(await read(spent)).toMatchObject({ status: 'DEAD', retry_count: 3, next_retry_at: null, lease_until: null })
    expect([
      ...(await database.sql`select number, outcome, error from dlq.dlq_attempts where message_id = ${spent}`),
    ]).toEqual([{ number: 3, outcome: 'failed', error: expect.stringContaining('its lease ran out') }])
    for (const id of [held, ofSlot]) expect(await read(id)).toMatchObject({ status: 'RETRYING', retry_count: 1 })
  })

  test('takes no more than its limit, and passes over messages that are being settled', async () => {
    const ids: string[] = []
    for (let n = 0; n < 10; n += 1) ids.push(await insertLeased(ago(1)))
    await service.sql.begin(async (sql) => {
      await sql`update dlq.dlq_messages set status = 'RESOLVED' where id = any(${sql.array(ids.slice(0, 4))}::uuid[])`
      expect(await releaseExpiredLeases(service.sql, { limit: 5 })).toBe(5)
      expect(await releaseExpiredLeases(service.sql, { limit: 5 })).toBe(1)
    })
    expect(await releaseExpiredLeases(service.sql, { limit: 5 })).toBe(0)
    const [row] =
      await database.sql`select count(*) filter (where status = 'RESOLVED')::int as resolved from dlq.dlq_messages`
    expect(row!.resolved).toBe(4)
  })
})
