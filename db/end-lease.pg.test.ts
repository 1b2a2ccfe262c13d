// Migration 064: SQL that settles a message names no lease, and ends it all the same.
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { describe, expect, test } from 'vitest'
import { migrateUp, migrationStatus } from './migrate.ts'

const leases = {
  'a slot': { lease_slot: 7, lease_batch: '3' },
  'a program': { lease_until: new Date('2031-01-01T00:00:00Z') },
}
const held = (lease: object) => ({
  ...{ status: 'RETRYING', retry_count: 1, lease_token: '5f0c2d3e-7a51-4e64-9d0a-2f8f2b9a3c11', ...lease },
})
const free = { lease_token: null, lease_until: null, lease_slot: null, lease_batch: null }

describe.each(Object.entries(leases))('a message that %s holds', (_, lease) => {
  const database = useDatabase()

  test.each([
    ['RESOLVED', {}],
    ['DEAD', { id: '01700000-0000-7000-8000-000000000001' }],
    ['PENDING', { id: '70000000-0000-7000-8000-000000000001' }],
  ])('is free once SQL has set it %s, in whichever partition', async (status, columns) => {
    const { sql } = database
    const id = await insertMessageRow(sql, { ...held(lease), ...columns })
    await sql`update dlq.dlq_messages set status = ${status} where id = ${id}`
    expect(await readMessageRow(sql, id)).toMatchObject({ status, retry_count: 1, ...free })
  })

  test('stays held whatever else is changed', async () => {
    const { sql } = database
    const id = await insertMessageRow(sql, held(lease))
    await sql`update dlq.dlq_messages set status = 'RETRYING', error_message = 'again', max_retries = 9 where id = ${id}`
    expect(await readMessageRow(sql, id)).toMatchObject({ ...held(lease), max_retries: 9 })
  })
})

describe('before the migration', () => {
  const database = useDatabase({ empty: true })

  test('what SQL had settled by then is free', async () => {
    const { sql } = database
    const migrations = (await migrationStatus({ databaseUrl: database.url })).filter(({ set }) => set === 'dlq')
    const count = migrations.findIndex(({ name }) => name === '064_free_what_is_settled')
    await migrateUp({ databaseUrl: database.url, only: { set: 'dlq', count } })
    const insert = async (status: string) =>
      Promise.all(Object.values(leases).map((lease) => insertMessageRow(sql, { ...held(lease), status })))
    const settled = [...(await insert('RESOLVED')), ...(await insert('DEAD')), ...(await insert('PENDING'))]
    const retrying = await insert('RETRYING')
    await migrateUp({ databaseUrl: database.url, only: { set: 'dlq', count: 1 } })
    for (const id of settled) expect(await readMessageRow(sql, id)).toMatchObject(free)
    for (const [n, lease] of Object.values(leases).entries())
      expect(await readMessageRow(sql, retrying[n]!)).toMatchObject(lease)
  })
})
