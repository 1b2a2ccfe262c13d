import { type ChildProcess, spawn } from 'node:child_process'
import { appendFileSync, cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type TestDatabase, useDatabase } from 'dlq-testing/test-database.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fileSets, migrateDown, migrateUp, migrationSets, migrationStatus } from './migrate.ts'
import { schemaOf } from './schema-of.ts'

const folder = fileURLToPath(new URL('.', import.meta.url))
const all = Number.POSITIVE_INFINITY

/** Runs the command line, from a copy of this folder if one is named. */
async function runCli(database: TestDatabase, args: string[], { from = folder, env = {} } = {}) {
  const child: ChildProcess = spawn(process.execPath, [join(from, 'migrate.ts'), ...args], {
    env: { ...process.env, DATABASE_URL: database.url, ...env },
  })
  const output = { stdout: '', stderr: '' }
  child.stdout!.on('data', (chunk) => (output.stdout += chunk))
  child.stderr!.on('data', (chunk) => (output.stderr += chunk))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, ...output }
}

async function downToNothing(database: TestDatabase): Promise<void> {
  for (const set of migrationSets.toReversed()) await migrateDown({ databaseUrl: database.url, set, count: all })
}

describe('a database that is taken up, down and up again', () => {
  const database = useDatabase({ empty: true })

  test('has the same schema, and nothing of it in between', async () => {
    const names = await migrateUp({ databaseUrl: database.url })
    const first = await schemaOf(database.sql)
    await downToNothing(database)
    const between = await schemaOf(database.sql)
    const again = await migrateUp({ databaseUrl: database.url })
    const second = await schemaOf(database.sql)

    expect(first.length).toBeGreaterThan(100)
    expect(between).toEqual([])
    expect(second).toEqual(first)
    expect(again).toEqual(names)
  })

  test('has nothing more to do', async () => {
    expect(await migrateUp({ databaseUrl: database.url })).toEqual([])
  })

  test('has one set without the other after that one was taken down', async () => {
    await migrateDown({ databaseUrl: database.url, set: 'dlq', count: all })

    const [row] = await database.sql`
      select to_regnamespace('dlq') is null as "dlqGone", to_regclass('saga.saga_states') is not null as "sagaStays"`
    expect(row).toEqual({ dlqGone: true, sagaStays: true })
    await migrateUp({ databaseUrl: database.url })
  })
})

describe('the status', () => {
  const database = useDatabase({ empty: true })

  test('names every migration, first as missing and then with the time of its application, in any time zone', async () => {
    // The server's time zone is not the client's.
    await database.sql`alter database ${database.sql(new URL(database.url).pathname.slice(1))} set timezone to 'Asia/Tokyo'`
    const before = await migrationStatus({ databaseUrl: database.url })
    const names = await migrateUp({ databaseUrl: database.url })
    const after = await migrationStatus({ databaseUrl: database.url })

    expect(before.map(({ set, name }) => `${set}/${name}`)).toEqual(names)
    expect(before.every(({ appliedAt, changed }) => appliedAt === null && !changed)).toBe(true)
    expect(after.map(({ set, name }) => `${set}/${name}`)).toEqual(names)
    for (const { appliedAt } of after) expect(Math.abs(Date.now() - appliedAt!.getTime())).toBeLessThan(60_000)
  })

  test('of the command line says so in one line each', async () => {
    const { code, stdout } = await runCli(database, ['status'])

    expect(code).toBe(0)
    expect(stdout).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z {2}dlq\/001_create_schema$/m)
    expect(stdout).not.toContain('not applied')
  })
})

describe('taking down', () => {
  const database = useDatabase({ empty: true })
  beforeAll(async () => {
    await migrateUp({ databaseUrl: database.url })
  })

  const applied = async () =>
    (await migrationStatus({ databaseUrl: database.url }))
      .filter(({ set, appliedAt }) => set === 'saga' && appliedAt)
      .map(({ name }) => name)

  test('one migration takes back the last of its set only', async () => {
    const before = await applied()
    const taken = await migrateDown({ databaseUrl: database.url, set: 'saga', count: 1 })

    expect(taken).toEqual([`saga/${before.at(-1)}`])
    expect(await applied()).toEqual(before.slice(0, -1))
    expect(await migrateUp({ databaseUrl: database.url })).toEqual(taken)
  })

  test.each(migrationSets)('any number of migrations of %s and going up again gives the same schema', async (set) => {
    const status = await migrationStatus({ databaseUrl: database.url })
    const before = await schemaOf(database.sql)
    for (let count = 1; count <= status.filter((migration) => migration.set === set).length; count += 1) {
      await migrateDown({ databaseUrl: database.url, set, count })
      expect(await schemaOf(database.sql)).not.toEqual(before)
      await migrateUp({ databaseUrl: database.url })
      expect(await schemaOf(database.sql), `after taking back ${count}`).toEqual(before)
    }
  })

  test('the worker drops its schema, and going up again makes it anew', async () => {
    const [before, taken] = [
      await migrationStatus({ databaseUrl: database.url }),
      await migrateDown({ databaseUrl: database.url, set: 'worker', count: 1 }),
    ]
    const [row] = await database.sql`select to_regnamespace('graphile_worker') is null as gone`

    expect(row).toEqual({ gone: true })
    expect(taken).toEqual(before.filter(({ set }) => set === 'worker').map(({ name }) => `worker/${name}`))
    expect(await migrateDown({ databaseUrl: database.url, set: 'worker', count: 1 })).toEqual([])
    expect(await migrateUp({ databaseUrl: database.url })).toEqual(taken)
  })

  test('nothing takes nothing back', async () => {
    const before = await applied()
    await expect(migrateDown({ databaseUrl: database.url, set: 'saga', count: 0 })).rejects.toThrow(/count/)
    const { code } = await runCli(database, ['down', 'saga', '0'])

    expect(code).toBe(64)
    expect(await applied()).toEqual(before)
  })

  test('of a set that does not exist explains the usage', async () => {
    const { code, stderr } = await runCli(database, ['down', 'orders'])
    expect({ code, stderr }).toEqual({ code: 64, stderr: expect.stringContaining('usage: node db/migrate.ts up') })
  })
})

describe('five processes that start at once', () => {
  const database = useDatabase({ empty: true })

  test('all succeed, and each migration is applied by one of them', async () => {
    const runs = await Promise.all(Array.from({ length: 5 }, () => runCli(database, ['up'])))

    expect(runs.map(({ code, stderr }) => ({ code, stderr }))).toEqual(runs.map(() => ({ code: 0, stderr: '' })))
    const lines = runs.flatMap(({ stdout }) => stdout.match(/^up .*$/gm) ?? [])
    const status = await migrationStatus({ databaseUrl: database.url })
    expect(lines.toSorted()).toEqual(status.map(({ set, name }) => `up ${set}/${name}`).toSorted())
    expect(status.every(({ appliedAt }) => appliedAt !== null)).toBe(true)
  })
})

describe('a file that was changed after it was applied', () => {
  const database = useDatabase({ empty: true })
  const copy = mkdtempSync(join(tmpdir(), 'dlq-migrations-'))

  beforeAll(() => {
    for (const name of ['migrate.ts', 'database-url.ts', 'worker-schema.ts', 'package.json', ...fileSets])
      cpSync(join(folder, name), join(copy, name), { recursive: true })
    symlinkSync(join(folder, 'node_modules'), join(copy, 'node_modules'))
  })
  afterAll(() => rmSync(copy, { recursive: true, force: true }))

  test('is refused by its path, upward and downward, and shown in the status', async () => {
    expect(await runCli(database, ['up'], { from: copy })).toMatchObject({ code: 0 })
    appendFileSync(join(copy, 'dlq/migrations/002_create_dlq_messages.up.sql'), '\n-- changed\n')

    const refused = {
      code: 1,
      stderr: expect.stringContaining('db/dlq/migrations/002_create_dlq_messages.up.sql: changed'),
    }
    expect(await runCli(database, ['up'], { from: copy })).toMatchObject(refused)
    expect(await runCli(database, ['down', 'dlq', 'all'], { from: copy })).toMatchObject(refused)
    const { stdout } = await runCli(database, ['status'], { from: copy })
    expect(stdout.match(/^.*CHANGED.*$/gm)).toEqual([
      expect.stringContaining('dlq/002_create_dlq_messages  CHANGED SINCE'),
    ])
  })
})

describe('without a database', () => {
  test('the command line says which variable is missing', async () => {
    const { code, stderr } = await runCli({ url: '' } as TestDatabase, ['up'])
    expect({ code, stderr }).toEqual({
      code: 78,
      stderr: expect.stringContaining('set DATABASE_URL, or database.host'),
    })
  })
})
