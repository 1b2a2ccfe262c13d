// The commands of infra/docs/restore-tests.md: a backup by pgBackRest, and the script that the chart's CronJob runs.
// Needs pgBackRest and a PostgreSQL with its client programs, of a version that it knows (Debian: apt-get install
// pgbackrest postgresql). PGBACKREST and PG_BIN name them elsewhere.

import { execFile } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { shellBlocks } from 'dlq-testing/documents/shell-blocks.ts'
import { useLogFolder } from 'dlq-testing/fleet/log-folder.ts'
import { chooseServerUser } from 'dlq-testing/postgres/server-user.ts'
import { freePort } from 'dlq-testing/process/free-port.ts'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { migrateUp } from './migrate.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..')
const here = 'db/restore-test.soak.pg.test.ts'
const page = join(root, 'infra/docs/restore-tests.md')

const pgbackrest = [process.env.PGBACKREST, '/usr/bin/pgbackrest'].find((file) => file && existsSync(file))
const versions = ['18', '17', '16', '15'].map((version) => `/usr/lib/postgresql/${version}/bin`)
const pgBin = [process.env.PG_BIN, ...versions].find((folder) => folder && existsSync(join(folder, 'pg_ctl')))
const missing = [pgbackrest ? [] : ['pgBackRest'], pgBin ? [] : ['PostgreSQL with pg_ctl and psql']].flat()
if (missing.length > 0) console.log(`not restored: there is no ${missing.join(' and no ')} here`)

const logs = useLogFolder()
let prefix: string[] = []
let port = 0
let sql: postgres.Sql
const place = (name: string) => join(logs.path, name)

/** Runs a shell command as whom PostgreSQL runs as. */
async function shell(command: string, env: Record<string, string> = {}): Promise<{ code: number; output: string }> {
  const [program = '', ...args] = [...prefix, 'sh', '-euc', command]
  const path = [dirname(pgbackrest!), pgBin!, process.env.PATH].join(':')
  const settings = { PATH: path, PGBACKREST_CONFIG: place('pgbackrest.conf'), ...env }
  try {
    const { stdout, stderr } = await run(program, args, { env: settings, cwd: root })
    return { code: 0, output: stdout + stderr }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { code, output: stdout + stderr }
  }
}

async function succeed(command: string): Promise<string> {
  const { code, output } = await shell(command)
  expect(code, `${command}\n${output}`).toBe(0)
  return output
}

const commands = (first: string) => {
  const block = shellBlocks(page).find(({ runIn, text }) => runIn === here && text.startsWith(first))
  if (!block) throw new Error(`${page} has no block that begins with ${first}`)
  return block.text.trim()
}
const backUp = () => succeed(commands('pgbackrest --stanza=dlq --type=full backup'))
const restore = (env: Record<string, string> = {}) => {
  const command = commands('WORK=').replace(/^WORK=\S+ STANZA=dlq PGDATABASE=\S+ /, '')
  return shell(command, { WORK: place('restored'), STANZA: 'dlq', PGDATABASE: 'dlq', ...env })
}

beforeAll(async () => {
  if (missing.length > 0) return
  const user = await chooseServerUser(join(pgBin!, 'postgres'))
  prefix = user.prefix
  for (const name of ['data', 'repository', 'restored', 'log', 'spool']) {
    mkdirSync(place(name), { mode: 0o700 })
    if (user.ids) chownSync(place(name), user.ids.uid, user.ids.gid)
  }
  port = await freePort()
  // The page's settings, with a folder for the bucket.
  const [settings = ''] = /\[global\]\n[^`]*/.exec(readFileSync(page, 'utf8')) ?? []
  const kept = settings.split('\n').filter((line) => !/^(repo1-(type|s3|path|cipher)|pg1-path)/.test(line))
  const text = `${kept.join('\n')}\npg1-path=${place('data')}\npg1-port=${port}\npg1-socket-path=${place('data')}\npg1-user=postgres\n`
  writeFileSync(
    place('pgbackrest.conf'),
    text.replace(
      '[global]',
      `[global]\nrepo1-path=${place('repository')}\nlog-path=${place('log')}\nlock-path=${place('log')}\nstart-fast=y`,
    ),
  )
  await succeed(`initdb -D ${place('data')} -U postgres -A trust -E UTF8 --locale=C --no-sync`)
  const archive = `PGBACKREST_CONFIG=${place('pgbackrest.conf')} ${pgbackrest} --stanza=dlq archive-push %p`
  writeFileSync(
    place('data/postgresql.auto.conf'),
    `port = ${port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = '${place('data')}'\n
     archive_mode = on\narchive_command = '${archive}'\nmax_wal_senders = 3\nwal_level = replica\nlogging_collector = off\n`,
  )
  await succeed(`pg_ctl -D ${place('data')} -w -l ${place('data')}/log start > /dev/null`)
  await succeed(`createdb -h 127.0.0.1 -p ${port} -U postgres dlq`)
  const url = `postgres://postgres@127.0.0.1:${port}/dlq`
  await migrateUp({ databaseUrl: url })
  sql = postgres(url, { max: 1, onnotice: () => {} })
  await succeed(commands('pgbackrest --stanza=dlq stanza-create'))
})

afterAll(async () => {
  await sql?.end({ timeout: 5 })
  if (missing.length === 0) await shell(`pg_ctl -D ${place('data')} -m immediate stop`)
})

const store = (count: number) => sql`
  with stored as (
    insert into dlq.dlq_messages (original_topic, error_message, status)
    select 'orders', 'failed', 'RESOLVED' from generate_series(1, ${count}::int) returning id
  )
  insert into dlq.dlq_attempts (message_id, number, attempt_id, outcome, settled_at)
  select id, 1, id, 'published', now() from stored`

test.skipIf(missing.length > 0)('the newest backup is restored, with the WAL after it, and found whole', async () => {
  await store(200)
  await backUp()
  await store(100)
  await sql`select pg_switch_wal()`
  // The segment is in the repository once PostgreSQL says so.
  await expect
    .poll(async () => (await sql`select archived_count::int as n from pg_stat_archiver`)[0]!.n, { timeout: 60_000 })
    .toBeGreaterThan(2)
  const { code, output } = await restore()
  expect(output).toMatch(/restored: 300 messages, the newest entry is \d+ s old, the counts are right/)
  expect(code).toBe(0)
})

test.skipIf(missing.length > 0)('one that is too old, or counts wrongly, fails and says why', async () => {
  const old = await restore({ MAX_AGE_SECONDS: '-1' })
  expect([old.code, old.output]).toEqual([1, expect.stringMatching(/its newest entry is \d+ s old; -1 are allowed/)])

  await sql`update dlq.dlq_summary set count = count + 7`
  await sql`update dlq.dlq_summary_deltas set change = change + 7`
  await backUp()
  const wrong = await restore()
  expect([wrong.code, wrong.output]).toEqual([
    1,
    expect.stringMatching(/its counts differ from its 300 messages by \d+/),
  ])
})

test.skipIf(missing.length > 0)('full backups are kept for thirty days, and all WAL for seven of them', async () => {
  const output = await succeed('pgbackrest --stanza=dlq --log-level-console=detail expire')
  expect(output).not.toMatch(/ERROR|WARN/)
  const text = readFileSync(place('pgbackrest.conf'), 'utf8')
  expect(text).toContain('repo1-retention-full=30')
  expect(text).toContain('repo1-retention-archive=7')
})

test.skipIf(missing.length > 0)('the specification’s commands make backups, too', async () => {
  const server = `-h 127.0.0.1 -p ${port} -U postgres`
  await succeed(`mkdir -m 700 ${place('spool')}/base && pg_basebackup ${server} -D ${place('spool')}/base -Ft -z -P`)
  await succeed(`tar -tzf ${place('spool')}/base/base.tar.gz | grep -q '^backup_label'`)
  await succeed(`pg_dump ${server} -d dlq -n saga -Fc -f ${place('spool')}/saga.dump`)
  expect(await succeed(`pg_restore --list ${place('spool')}/saga.dump`)).toContain('TABLE DATA saga saga_step_logs')
})
