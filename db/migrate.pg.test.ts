import { type ChildProcess, spawn } from 'node:child_process'
import { appendFileSync, cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type TestDatabase, useDatabase } from 'dlq-testing/postgres/test-database.ts'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { migrateDown, migrateUp, migrationSets, migrationStatus, runFiles } from './migrate.ts'
import { type FileSet, fileSets } from './migration-files.ts'
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

/** Takes single steps of a set, over one connection. */
async function openSteps(database: TestDatabase, set: FileSet) {
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  return {
    take: (direction: 'up' | 'down') => runFiles(client, set, direction, 1),
    [Symbol.asyncDispose]: () => client.end(),
  }
}

async function downToNothing(database: TestDatabase): Promise<void> {
  for (const set of migrationSets.toReversed()) await migrateDown({ databaseUrl: database.url, set, count: all })
}

describe('a database that is migrated up, down and up again', () => {
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

  test('has no migration left to apply', async () => {
    expect(await migrateUp({ databaseUrl: database.url })).toEqual([])
  })

  test('keeps one set of migrations when the other one is taken down', async () => {
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

  // Going up gives the same schema from wherever one went down to, if each schema on the way up is the one on the way
  // down. So each step is taken twice, and not each number of steps. Rights are set once, after the last step up.
  test.each(fileSets)('any number of migrations of %s and going up again gives the same schema', async (set) => {
    const before = await schemaOf(database.sql)
    const count = (await migrationStatus({ databaseUrl: database.url })).filter((row) => row.set === set).length
    const objects = async () => (await schemaOf(database.sql)).filter((line) => !line.startsWith('rights '))
    const all = await objects()
    await using steps = await openSteps(database, set)
    const onTheWayDown: string[][] = []
    for (let left = count - 1; left >= 0; left -= 1) {
      expect(await steps.take('down')).toHaveLength(1)
      onTheWayDown[left] = await objects()
      expect(onTheWayDown[left]).not.toEqual(all)
    }
    for (let applied = 0; applied < count; applied += 1) {
      expect(await objects(), `after taking back ${count - applied}`).toEqual(onTheWayDown[applied])
      expect(await steps.take('up')).toHaveLength(1)
    }

    // The command takes several steps at once, and sets the rights as well.
    for (const taken of [1, 3, count - 1]) {
      await migrateUp({ databaseUrl: database.url })
      await migrateDown({ databaseUrl: database.url, set, count: taken })
      expect(await objects()).toEqual(onTheWayDown[count - taken])
      await migrateUp({ databaseUrl: database.url })
      expect(await schemaOf(database.sql), `after taking back ${taken}`).toEqual(before)
    }
  })

  test('the worker drops its schema, and going up again creates it', async () => {
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

  test('zero migrations changes nothing', async () => {
    const before = await applied()
    await expect(migrateDown({ databaseUrl: database.url, set: 'saga', count: 0 })).rejects.toThrow(/count/)
    const { code } = await runCli(database, ['down', 'saga', '0'])

    expect(code).toBe(64)
    expect(await applied()).toEqual(before)
  })

  test.each(['orders', '--all'])('of a set that does not exist (%s) explains the usage', async (set) => {
    const { code, stderr } = await runCli(database, ['down', set])
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

describe('a service that stores messages meanwhile', () => {
  const database = useDatabase({ empty: true })

  test('may take a lock that a migration needs: the migration is run again', async () => {
    const { url } = database
    const before = 37
    await migrateUp({ databaseUrl: url, only: { set: 'dlq', count: before } })
    const service = new pg.Client({ connectionString: url })
    await service.connect()
    const lines: string[] = []
    try {
      // Migration 038 replaces a trigger of the messages, for which it waits five seconds at most.
      await service.query('begin; lock table dlq.dlq_messages in row exclusive mode')
      const migrating = migrateUp({ databaseUrl: url, log: (line) => lines.push(line) })
      await vi.waitFor(() => expect(lines.join()).toContain('lost a lock'), { timeout: 30_000 })
      await service.query('commit')
      expect(await migrating).toContain('dlq/038_set_updated_at_once')
    } finally {
      await service.end()
    }
    expect(await migrateUp({ databaseUrl: url })).toEqual([])
  })

  test('may take a lock that the way back needs', async () => {
    const { url } = database
    // Back to 051, which builds indexes of the messages.
    const names = (await migrationStatus({ databaseUrl: url }))
      .filter(({ set }) => set === 'dlq')
      .map(({ name }) => name)
    const count = names.length - names.indexOf('051_fewer_indexes')
    const service = new pg.Client({ connectionString: url })
    await service.connect()
    const lines: string[] = []
    try {
      await service.query('begin; lock table dlq.dlq_messages in row exclusive mode')
      const migrating = migrateDown({ databaseUrl: url, set: 'dlq', count, log: (line) => lines.push(line) })
      await vi.waitFor(() => expect(lines.join()).toContain('lost a lock'), { timeout: 30_000 })
      await service.query('commit')
      const taken = await migrating
      expect(taken).toHaveLength(count)
      expect((await migrateUp({ databaseUrl: url })).toReversed()).toEqual(taken)
    } finally {
      await service.end()
    }
  })
})

describe('a process that is killed', () => {
  const database = useDatabase({ empty: true })
  const mayRead = async () =>
    (await database.sql`select has_table_privilege('dlq_reader', 'dlq.dlq_summary_groups', 'select') as may`)[0]!.may

  test('behind the last file: the status says what is applied, and the next one sets the rights', async () => {
    await using steps = await openSteps(database, 'dlq')
    const { url: databaseUrl } = database
    const count = (await migrationStatus({ databaseUrl })).filter(({ set }) => set === 'dlq').length
    await migrateUp({ databaseUrl, only: { set: 'dlq', count: count - 1 } })
    await database.sql`revoke select on dlq.dlq_summary_groups from dlq_reader`
    await steps.take('up')

    const missing = (await migrationStatus({ databaseUrl })).filter(({ appliedAt }) => appliedAt === null)
    expect(missing.filter(({ set }) => set === 'dlq')).toEqual([])
    expect(await migrateUp({ databaseUrl, only: { set: 'dlq', count: 1 } })).toEqual([])
    expect(await mayRead()).toBe(true)
  })

  test('on the way back: what it took back is not applied, and may be another file the next time', async () => {
    await using steps = await openSteps(database, 'dlq')
    const { url: databaseUrl } = database
    const [taken] = await steps.take('down')
    await database.sql`update migrations.checksums set sha256 = 'of another file' where name = ${taken!}`

    const missing = (await migrationStatus({ databaseUrl })).filter(({ appliedAt }) => appliedAt === null)
    expect(missing.map(({ name }) => name)).toContain(taken)
    expect(await migrateUp({ databaseUrl })).toContain(`dlq/${taken}`)
  })
})

describe('a database whose sessions begin with other settings', () => {
  const plain = useDatabase({ empty: true })
  const database = useDatabase({ empty: true })
  const set = (setting: string) =>
    database.sql`alter database ${database.sql(new URL(database.url).pathname.slice(1))} ${database.sql.unsafe(setting)}`

  test('is migrated to the same schema', async () => {
    for (const setting of [
      `set datestyle = 'German'`,
      'set standard_conforming_strings = off',
      'set quote_all_identifiers = on',
      `set default_transaction_isolation = 'serializable'`,
      `set search_path = ''`,
    ])
      await set(setting)
    await migrateUp({ databaseUrl: database.url })
    const status = await migrationStatus({ databaseUrl: database.url })
    for (const { appliedAt } of status) expect(Math.abs(Date.now() - appliedAt!.getTime())).toBeLessThan(120_000)
    await set('reset all')
    await migrateUp({ databaseUrl: plain.url })
    expect(await schemaOf(database.sql)).toEqual(await schemaOf(plain.sql))
  })

  test('may limit the time of statements: an index is built for as long as it takes', async () => {
    await migrateDown({ databaseUrl: database.url, set: 'dlq', count: 1 })
    await set(`set statement_timeout = '1s'`)
    const old = new pg.Client({ connectionString: database.url })
    await old.connect()
    try {
      // The build has to wait for the end of a transaction that sees the rows as they were.
      await old.query('begin isolation level repeatable read; select from dlq.dlq_topics')
      const migrating = migrateUp({ databaseUrl: database.url })
      const isLate = async () =>
        (
          await database.sql`
            select from pg_stat_activity
            where datname = current_database() and query like 'create index concurrently%'
              and clock_timestamp() - query_start > interval '1200 ms'`
        ).length > 0
      await Promise.race([migrating, vi.waitFor(async () => expect(await isLate()).toBe(true), { timeout: 30_000 })])
      await old.query('commit')
      expect(await migrating).toHaveLength(1)
    } finally {
      await old.end()
    }
  })
})

/** Another version of this folder, which a test may change. */
function useCopy(): string {
  const copy = mkdtempSync(join(tmpdir(), 'dlq-migrations-'))
  beforeAll(() => {
    const isOurs = (path: string) => !/\/node_modules$|\.test\.ts$/.test(path)
    cpSync(folder, copy, { recursive: true, filter: isOurs })
    symlinkSync(join(folder, 'node_modules'), join(copy, 'node_modules'))
  })
  afterAll(() => rmSync(copy, { recursive: true, force: true }))
  return copy
}

describe('a database that a later version has migrated', () => {
  const database = useDatabase({ empty: true })
  const later = useCopy()

  test('is left as it is by this version, upward and downward, and the status says so', async () => {
    for (const [direction, text] of [
      ['up', 'create table dlq.later ()'],
      ['down', 'drop table dlq.later'],
    ])
      writeFileSync(join(later, `dlq/migrations/999_later.${direction}.sql`), `${text};\n`)
    expect(await runCli(database, ['up'], { from: later })).toMatchObject({ code: 0 })
    const schema = await schemaOf(database.sql)

    expect(await runCli(database, ['up'])).toEqual({
      code: 0,
      stdout:
        'warning: the database has dlq/999_later of a later version; the version before that works with it\nnothing to do: every migration is applied\n',
      stderr: '',
    })
    expect(await runCli(database, ['down', 'dlq'])).toMatchObject({
      code: 1,
      stderr: 'dlq/999_later is of a later version: take it back by the migrate.ts of that version\n',
    })
    const { stdout } = await runCli(database, ['status'])
    expect(stdout.match(/^.*(?:CHANGED|LATER).*$/gm)).toEqual([
      expect.stringMatching(/^20\S+Z {2}dlq\/999_later {2}OF A LATER VERSION$/),
    ])

    expect(await schemaOf(database.sql)).toEqual(schema)
    expect(await runCli(database, ['up'], { from: later })).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/nothing to do/),
    })
    expect(await runCli(database, ['down', 'dlq'], { from: later })).toMatchObject({ code: 0 })
  })
})

describe('a file that was changed after it was applied', () => {
  const database = useDatabase({ empty: true })
  const copy = useCopy()

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
