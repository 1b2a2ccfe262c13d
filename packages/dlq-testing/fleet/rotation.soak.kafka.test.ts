// Vault gives every service a user and a password for a day: a new role, its credentials in a file, and some time later
// it drops the old role. A fleet under load must not lose a request or a message by that. The roles have only the rights
// of a service: they act as the role that owns the schemas.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { migrateUp } from 'dlq-db/migrate.ts'
import { eventually, nothingHappensFor } from 'dlq-testing/eventually.ts'
import { useFleet } from 'dlq-testing/fleet/test-fleet.ts'
import { readTopic } from 'dlq-testing/kafka/read-topic.ts'
import { passwordRole } from 'dlq-testing/postgres/postgres.ts'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'

const soak = process.env.DLQ_SOAK === '1'
/** Services look at the file each second. */
const twoLooksMs = 2500
const perRotation = soak ? 20_000 : 200
const folder = mkdtempSync(join(tmpdir(), 'dlq-rotation-'))
const urlFile = join(folder, 'url')
const unique = randomBytes(4).toString('hex')
const owner = `owner_${unique}`
const name = `rotation_${unique}`

const fleet = useFleet('rotation', {
  partitions: 2,
  env: { DATABASE_URL: '', DATABASE_URL_FILE: urlFile, DLQ_RETRY_INITIAL_DELAY: '200ms' },
})
let release: AsyncDisposableStack | undefined
let sql: postgres.Sql
let roles = 0
let produced = 0

beforeAll(async () => {
  await using stack = new AsyncDisposableStack()
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const admin = fleet.database.sql
  await admin.unsafe(`do $$ begin create role ${passwordRole}; exception when duplicate_object then null; end $$`)
  await admin.unsafe(`create role ${owner} nologin`)
  stack.defer(async () => void (await admin.unsafe(`drop role ${owner}`)))
  await admin.unsafe(`create database ${name} owner ${owner} template template0`)
  stack.defer(async () => void (await admin.unsafe(`drop database ${name} with (force)`)))
  const role = await createRole()
  stack.defer(() => dropRole(`app_${unique}_${roles}`))
  await migrateUp({ databaseUrl: role.url })
  writeUrl(role.url)
  const url = new URL(fleet.database.url)
  url.pathname = name
  sql = postgres(url.href, { max: 2, onnotice: () => {} })
  stack.defer(() => sql.end({ timeout: 5 }))
  await fleet.services.startAll()
  stack.defer(() => fleet.services.stop())
  release = stack.move()
})

afterAll(() => release?.disposeAsync())

/** Creates a role as Vault's creation statement does. */
async function createRole(): Promise<{ user: string; url: string }> {
  roles += 1
  const [user, password] = [`app_${unique}_${roles}`, randomBytes(16).toString('base64')]
  const admin = fleet.database.sql
  await admin.unsafe(`create role ${user} login password '${password}' in role ${owner}, ${passwordRole}`)
  await admin.unsafe(`alter role ${user} set role = '${owner}'`)
  const url = new URL(fleet.database.url)
  Object.assign(url, { pathname: name, username: user, password: encodeURIComponent(password) })
  return { user, url: url.href }
}

/** Drops a role as Vault does at the end of its lease. It fails where the role owns anything. */
async function dropRole(user: string): Promise<void> {
  await fleet.database.sql.unsafe(`drop role if exists ${user}`)
}

/** Replaces a file atomically, as Vault's agent and Kubernetes do. */
function writeUrl(text: string): void {
  writeFileSync(`${urlFile}.new`, text)
  renameSync(`${urlFile}.new`, urlFile)
}

const count = async (status: string) => {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from dlq.dlq_messages where status::text ~ ${status}`
  return row!.count
}

/** Requests and dead letters without a pause, until it is disposed of. */
function load() {
  let isOver = false
  const failed: string[] = []
  let answered = 0
  const ask = async (path: string) => {
    while (!isOver) {
      const answer = await fleet.services.request(path).catch((error: Error) => ({ status: 0, text: error.message }))
      if (answer.status === 200) answered += 1
      else failed.push(`${path}: ${answer.status} ${answer.text}`)
    }
  }
  const produce = async () => {
    while (!isOver) {
      const n = produced++
      const headers = { 'dlq-original-topic': fleet.original, 'dlq-error-message': 'failed' }
      await fleet.producer.send({ topic: fleet.dlq, messages: [{ key: `${n}`, value: `{"n":${n}}`, headers }] })
      await sleep(soak ? 1 : 10)
    }
  }
  const lists = [`/api/v1/dlq/${fleet.dlq}`, '/api/v1/messages?limit=50', '/api/v1/topics', '/readyz']
  const work = Promise.all([...lists.map(ask), produce()])
  return {
    failed,
    answered: () => answered,
    async [Symbol.asyncDispose]() {
      isOver = true
      await work
    },
  }
}

async function untilMore(messages: number): Promise<void> {
  const before = await count('.')
  await eventually(async () => expect(await count('.')).toBeGreaterThan(before + messages))
}

async function sessionsOf(user: string): Promise<string[]> {
  const rows = await fleet.database.sql<{ application_name: string }[]>`
    select application_name from pg_stat_activity where usename = ${user}`
  return rows.map(({ application_name }) => application_name)
}

test('another user in the file, and the old role dropped, costs no request and no message', async () => {
  const first = new URL(readFileSync(urlFile, 'utf8')).username
  const services = new Set(['dlq-api', 'dlq-ingester', 'dlq-retrier', 'dlq-retrier-jobs', 'dlq-retrier-worker'])
  await eventually(async () => expect(new Set(await sessionsOf(first))).toEqual(services))
  {
    await using traffic = load()
    let old = first
    // The second time the file appears before its role, and is half written at first.
    for (const isEarly of [false, true]) {
      await untilMore(perRotation)
      const next = await createRole()
      if (isEarly) {
        writeUrl(next.url.slice(0, 30))
        await nothingHappensFor(twoLooksMs)
        writeUrl(next.url.replace(/:[^:@]+@/, ':wrong@'))
        await nothingHappensFor(twoLooksMs)
        expect(await sessionsOf(next.user)).toEqual([])
      }
      writeUrl(next.url)
      await eventually(async () => expect(await sessionsOf(old)).toEqual([]))
      await dropRole(old)
      old = next.user
      await untilMore(perRotation)
    }
    expect(traffic.failed).toEqual([])
    expect(traffic.answered()).toBeGreaterThan(100)
  }
  await eventually(async () => expect(await count('RESOLVED')).toBe(produced))
  const records = await readTopic(fleet.topics.kafka, {
    topic: fleet.original,
    groupId: fleet.topics.groupName('reader'),
  })
  const seen = records.map(({ value }) => JSON.parse(String(value)).n as number).sort((a, b) => a - b)
  expect(seen).toEqual(Array.from({ length: produced }, (_, n) => n))
})
