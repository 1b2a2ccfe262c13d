// The chain of the audit: written by whoever writes an entry, proved by verify-audit.ts, broken here by hand.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { writeAudit } from 'dlq-core/queries/change/audit.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import pg from 'pg'
import { beforeEach, describe, expect, test } from 'vitest'
import { type AuditProof, readDays, verifyAudit } from './verify-audit.ts'

const run = promisify(execFile)
const database = useDatabase()
const service = useServiceDatabase(database)

beforeEach(() => database.sql.unsafe('delete from dlq.dlq_audit; delete from dlq.dlq_audit_days'))

const entry = (target_id: string) => ({
  ...{ actor: 'maria', role: 'write', request_id: 'req_1', action: 'message.dead', target_type: 'message', target_id },
  reason: 'naïve “reason”, with a comma: 3:abc',
  before: { status: 'PENDING', n: 12345678901234567890n },
})

async function writeEntries(count: number): Promise<void> {
  for (let n = 1; n <= count; n += 1) await writeAudit(service.sql, entry(`m${n}`))
}

async function verify(options?: Parameters<typeof verifyAudit>[1]): Promise<AuditProof> {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  try {
    return await verifyAudit(client, options)
  } finally {
    await client.end()
  }
}

const idOf = async (target: string) =>
  String((await database.sql`select id from dlq.dlq_audit where target_id = ${target}`)[0]!.id)

test('entries that were written one after the other, and at the same time, are one chain', async () => {
  await writeEntries(3)
  await Promise.all(
    Array.from({ length: 40 }, (_, n) =>
      service.sql.begin(async (sql) => {
        await writeAudit(sql, entry(`a${n}`))
        await writeAudit(sql, entry(`b${n}`))
      }),
    ),
  )
  const { days, faults } = await verify()
  expect(faults).toEqual([])
  expect(days.reduce((sum, { entries }) => sum + entries, 0)).toBe(83)
})

test('a day begins alike, whatever dates look like in the session that begins it', async () => {
  await service.sql.begin(async (sql) => {
    await sql`set local DateStyle = 'German'`
    await writeAudit(sql, entry('m1'))
  })
  expect((await verify()).faults).toEqual([])
})

test('what is rolled back leaves no hole', async () => {
  await writeEntries(1)
  await service.sql
    .begin(async (sql) => {
      await writeAudit(sql, entry('gone'))
      throw new Error('take back')
    })
    .catch(() => {})
  await writeEntries(1)
  expect(await verify()).toMatchObject({ faults: [], days: [{ entries: 2 }] })
})

test('a transaction that has written an entry and works on keeps no other writer waiting', async () => {
  await service.sql.begin(async (slow) => {
    await writeAudit(slow, entry('slow'))
    // On another connection. Where the entry were chained at once, this would wait for the end of the first one.
    await service.sql.begin(async (quick) => {
      await quick`set local lock_timeout = '5s'`
      await writeAudit(quick, entry('quick'))
    })
  })
  const chained = await database.sql`select target_id from dlq.dlq_audit order by chain_number`
  expect(chained.map(({ target_id }) => target_id)).toEqual(['quick', 'slow'])
  expect(await verify()).toMatchObject({ faults: [] })
})

describe('broken by hand', () => {
  test.each<[what: string, sql: string, fault: (id: string) => string]>([
    ['an entry whose actor is changed', `update dlq.dlq_audit set actor = 'somebody' where target_id = 'm3'`, isOther],
    ['a reason that is taken away', `update dlq.dlq_audit set reason = null where target_id = 'm3'`, isOther],
    ['a time that is moved', `update dlq.dlq_audit set at = at - interval '1 h' where target_id = 'm3'`, isOther],
    [
      'an entry that is deleted',
      `delete from dlq.dlq_audit where target_id = 'm2'`,
      (id) => `entries 2 to 2 are missing before entry ${id}`,
    ],
    ['the last entry deleted', `delete from dlq.dlq_audit where target_id = 'm5'`, () => 'the chain ends at 4'],
    [
      'two entries that change places',
      `update dlq.dlq_audit set chain_number = 7 - chain_number where target_id in ('m3', 'm4')`,
      isOther,
    ],
    [
      'an entry that claims to be older than the chain',
      `update dlq.dlq_audit set chain_day = null, chain_number = null, chain_hash = null where target_id = 'm3'`,
      () => '1 entries have no hash',
    ],
    [
      'the end of a day that is set back with its last entry',
      `delete from dlq.dlq_audit where target_id = 'm5';
       update dlq.dlq_audit_days set entries = 4`,
      () => 'the last hash is not the day',
    ],
    ['a day without its end', 'delete from dlq.dlq_audit_days', () => 'dlq_audit_days does not have'],
  ])('%s is found', async (_what, sql, fault) => {
    await writeEntries(5)
    expect(await verify()).toMatchObject({ faults: [] })
    const id = await idOf('m3')
    await database.sql.unsafe(sql)
    const { faults } = await verify()
    expect(faults).toContainEqual(expect.stringContaining(fault(id)))
  })

  function isOther(id: string) {
    return `entry ${id} (number`
  }

  test('a day that its owner wrote again with proper hashes is found by what was printed before', async () => {
    await writeEntries(5)
    const { days: since } = await verify()
    await database.sql.unsafe('delete from dlq.dlq_audit; delete from dlq.dlq_audit_days')
    await writeEntries(6)
    expect(await verify()).toMatchObject({ faults: [] })
    expect((await verify({ since })).faults).toEqual([expect.stringContaining('the day was written again')])
    await database.sql.unsafe('delete from dlq.dlq_audit; delete from dlq.dlq_audit_days')
    expect((await verify({ since })).faults).toEqual([expect.stringContaining('the day is gone')])
  })
})

test('days that retention deletes are forgotten, and the others hold', async () => {
  await writeEntries(2)
  await database.sql.unsafe(`
    update dlq.dlq_audit set at = at - interval '10 days', chain_day = chain_day - 10;
    update dlq.dlq_audit_days set day = day - 10`)
  await writeEntries(3)
  // Of today, although it says that it is older.
  await database.sql`
    insert into dlq.dlq_audit (at, actor, role, action, target_type, target_id)
    values ('2020-01-01', 'maria', 'write', 'a', 'message', 'm4')`
  const forget = async (before: string) =>
    (await database.sql.unsafe(`select dlq.forget_audit(${before}, 1) as deleted`))[0]!.deleted
  expect(await forget(`now() - interval '20 days'`)).toBe(0)
  expect([await forget(`now() - interval '5 days'`), await forget(`now() - interval '5 days'`)]).toEqual([1, 1])
  expect([await forget(`now() - interval '5 days'`), await forget(`'infinity'`)]).toEqual([0, 0])
  expect(await verify()).toMatchObject({ faults: [], days: [{ entries: 4 }], forgotten: [{ day: expect.any(String) }] })
})

test('the program prints the days, takes them as --since, and exits with 1 where the chain is broken', async () => {
  await writeEntries(3)
  const folder = mkdtempSync(join(tmpdir(), 'dlq-audit-'))
  try {
    const program = fileURLToPath(new URL('./verify-audit.ts', import.meta.url))
    const call = (...args: string[]) =>
      run(process.execPath, [program, ...args], { env: { ...process.env, DATABASE_URL: database.url } })
    const { stdout } = await call()
    expect(stdout).toMatch(/^\d{4}-\d\d-\d\d 3 [0-9a-f]{64}\nthe audit is as it was written\n$/)
    expect(readDays(stdout)).toEqual((await verify()).days)
    const since = join(folder, 'days.txt')
    writeFileSync(since, stdout)
    expect((await call('--since', since)).stdout).toBe(stdout)
    await database.sql`update dlq.dlq_audit set actor = 'somebody' where target_id = 'm2'`
    await expect(call()).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('is not what was written') })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
