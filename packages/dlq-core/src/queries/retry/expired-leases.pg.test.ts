// The sweep of expired leases of applications that claimed by SQL.

import { randomUUID } from 'node:crypto'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, type MessageColumns, readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { releaseExpiredLeases, releaseUnheld } from './expired-leases.ts'

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

describe('a RETRYING message that nobody holds', () => {
  const afterMs = 5 * 60_000
  /** As the specification's own query leaves it. */
  const insertUnheld = async (columns: MessageColumns = {}) =>
    insertMessageRow(database.sql, {
      ...{ status: 'RETRYING', lease_slot: null, lease_batch: null },
      last_retry_at: ago(600),
      updated_at: ago(600),
      next_retry_at: ago(600),
      ...columns,
    })

  test('is PENDING again after the lease time, with a new time and no attempt counted; DEAD with its budget spent', async () => {
    const open = await insertUnheld({ retry_count: 1 })
    const spent = await insertUnheld({ retry_count: 3 })
    const onRequest = await insertUnheld({ next_retry_at: null })
    const released = await releaseUnheld(service.sql, { afterMs, limit: 10 })

    expect(released.map(({ id, status }) => [id, status]).toSorted()).toEqual(
      [
        [open, 'PENDING'],
        [spent, 'DEAD'],
        [onRequest, 'PENDING'],
      ].toSorted(),
    )
    const row = await read(open)
    expect(row).toMatchObject({ status: 'PENDING', retry_count: 1 })
    expect(row.next_retry_at.getTime()).toBeGreaterThan(Date.now())
    expect(await read(spent)).toMatchObject({ status: 'DEAD', next_retry_at: null })
    expect(await read(onRequest)).toMatchObject({ status: 'PENDING', next_retry_at: null })
  })

  test('has no time once its route holds it, and nobody’s request', async () => {
    const id = await insertUnheld({ held_by_route: true, retry_requested: true })
    expect(await releaseUnheld(service.sql, { afterMs, limit: 10 })).toHaveLength(1)
    expect(await read(id)).toMatchObject({ status: 'PENDING', next_retry_at: null, retry_requested: false })
  })

  test('stays for the lease time; and what a slot or a lease holds, or a transaction settles, stays', async () => {
    const kept = [
      await insertUnheld({ updated_at: ago(60) }),
      await insertUnheld({ lease_slot: 1, lease_batch: 1 }),
      await insertUnheld({ lease_token: randomUUID(), lease_until: ago(-60) }),
    ]
    const settling = await insertUnheld()
    await service.sql.begin(async (sql) => {
      await sql`select from dlq.dlq_messages where id = ${settling} for update`
      expect(await releaseUnheld(service.sql, { afterMs, limit: 10 })).toEqual([])
    })
    for (const id of kept) expect(await read(id)).toMatchObject({ status: 'RETRYING' })
    expect(await releaseUnheld(service.sql, { afterMs, limit: 10 })).toHaveLength(1)
  })
})
