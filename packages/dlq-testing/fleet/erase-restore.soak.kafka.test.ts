// A backup of before an erasure is restored: db/erase-again.ts erases it again, whatever the messages were doing when the
// backup was made, and neither Kafka nor a retrier brings anything back. Shows what infra/docs/backup.md promises.

import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { foldSummary, reconcileSummary } from 'dlq-core/queries/reading/summary.ts'
import { migrateUp } from 'dlq-db/migrate.ts'
import { eventually } from 'dlq-testing/eventually.ts'
import { useLogFolder } from 'dlq-testing/fleet/log-folder.ts'
import { createFleet, type Fleet } from 'dlq-testing/fleet/service-fleet.ts'
import { createTopics } from 'dlq-testing/kafka/create-topics.ts'
import { readTopic } from 'dlq-testing/kafka/read-topic.ts'
import { useTopics } from 'dlq-testing/kafka/test-topics.ts'
import {
  archiveRest,
  archivingTo,
  layOutRestore,
  restoringFrom,
  takeBaseBackup,
} from 'dlq-testing/postgres/base-backup.ts'
import { startPostgres } from 'dlq-testing/postgres/postgres.ts'
import { connectAsService } from 'dlq-testing/postgres/service-database.ts'
import { createReaper } from 'dlq-testing/process/reaper.ts'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { canary, findCanary, findInFiles } from '../../../services/retrier/src/erase/test-canary.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../../', import.meta.url))
const topics = useTopics()
const logs = useLogFolder()
const place = (name: string) => join(logs.path, name)
const quick = { shared_buffers: '32MB', max_connections: '60' }
const others = 40
/** What each message of the key is doing when the backup is made. */
const states = ['waiting', 'archived', 'sent', 'being sent'] as const
type State = (typeof states)[number]

let release: AsyncDisposableStack
let original: string
let dlq: string

beforeAll(async () => {
  release = new AsyncDisposableStack()
  original = topics.topicName('erase-restore')
  dlq = topics.claimTopic(`${original}.dlq.v1`)
  await createTopics(
    topics.admin,
    [original, dlq].map((topic) => ({ topic, numPartitions: 2 })),
  )
})
afterAll(() => release.disposeAsync())

async function produce(messages: { key: string; value: string; headers?: Record<string, string> }[]): Promise<void> {
  const producer = topics.kafka.producer({ allowAutoTopicCreation: false })
  await producer.connect()
  const own = { 'dlq-original-topic': original, 'dlq-error-message': 'failed', 'dlq-consumer-group': 'billing' }
  const named = { 'x-name': canary, 'dlq-error-message': `no ${canary}` }
  const headersOf = (key: string) => ({ ...own, ...(key === canary && named) })
  await producer.send({
    topic: dlq,
    messages: messages.map((one) => ({ ...one, headers: { ...headersOf(one.key), ...one.headers } })),
  })
  await producer.disconnect()
}

/** Only a token with `payloads: full` may erase. */
const token = 'erase-restore-token'
const auth = {
  tokens: [
    {
      ...{ name: 'ann', role: 'sys_admin', payloads: 'full' },
      sha256: createHash('sha256').update(token).digest('hex'),
    },
  ],
}
const authorization = `Bearer ${token}`

const post = (fleet: Fleet, path: string, body: object = {}) =>
  fleet.request(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization },
    body: JSON.stringify(body),
  })

async function sentOfKey(): Promise<number> {
  const records = await readTopic(topics.kafka, { topic: original, groupId: topics.groupName('reader') })
  return records.filter(({ key }) => String(key) === canary).length
}

test('erased again after a restore, it stays so', async () => {
  await using stack = new AsyncDisposableStack()
  const reaper = stack.adopt(createReaper(), (reaper) => reaper.close())
  mkdirSync(place('archive'))
  writeFileSync(place('config.yaml'), JSON.stringify({ auth }))
  chmodSync(place('archive'), 0o777)
  const fleetOn = (databaseUrl: string, name: string) => {
    mkdirSync(place(name))
    const fleet = createFleet({
      ...{ databaseUrl, reaper, topicPattern: dlq, consumerGroup: topics.groupName(name), logDir: place(name) },
      kafkaBrokers: topics.brokers,
      env: {
        DLQ_RETRY_AUTO_RETRY: 'false',
        DLQ_RETRY_WAIT: '1s',
        DLQ_RETRY_LEASE: '2s',
        DLQ_CONFIG: place('config.yaml'),
      },
    })
    stack.defer(() => fleet.stop())
    return fleet
  }
  const open = (url: string) => {
    const sql = postgres(url, { max: 3, onnotice: () => {} })
    stack.defer(() => sql.end({ timeout: 5 }))
    return sql
  }

  const dataDir = place('first')
  const first = await startPostgres({ dataDir, reaper, settings: { ...quick, ...archivingTo(place('archive')) } })
  stack.defer(() => first.stop())
  await migrateUp({ databaseUrl: first.url })
  const sql = open(first.url)
  const fleet = fleetOn(first.url, 'before')
  await fleet.startAll()
  await produce([
    ...states.map((state) => ({ key: canary, value: JSON.stringify({ state, name: canary }) })),
    ...Array.from({ length: others }, (_, n) => ({ key: `other-${n}`, value: `{"n":${n}}` })),
  ])
  const total = states.length + others
  await eventually(async () => expect(await sql`select from dlq.dlq_messages`).toHaveLength(total))
  const rows = await sql<{ id: string; state: State }[]>`
    select id, payload->>'state' as state from dlq.dlq_messages where payload->>'state' is not null`
  const idOf = (wanted: State) => rows.find(({ state }) => state === wanted)!.id
  const statusOf = async (of: postgres.Sql, id: string) =>
    (await of`select status::text as status from dlq.dlq_messages where id = ${id}`)[0]?.status
  for (const state of ['archived', 'sent'] as const) {
    await post(fleet, `/api/v1/dlq/messages/${idOf(state)}/retry`)
    await eventually(async () => expect(await statusOf(sql, idOf(state))).toBe('RESOLVED'))
  }
  await sql`select dlq.archive_messages(array[${idOf('archived')}]::uuid[])`
  // Its retrier dies when the record is in Kafka, and the database does not know it.
  await fleet.get('retrier').stop('SIGTERM', 60_000)
  const dying = await fleet.start('retrier', 'retrier', {
    NODE_ENV: 'test',
    TEST_FAULT_POINT: 'between-commit-and-settle',
  })
  await post(fleet, `/api/v1/dlq/messages/${idOf('being sent')}/retry`)
  expect(await dying.exited).toEqual({ code: null, signal: 'SIGKILL' })
  expect(await statusOf(sql, idOf('being sent'))).toBe('RETRYING')

  await takeBaseBackup(sql, { dataDir, target: place('backup') })
  await (await fleet.start('retrier')).ready()
  const created = await post(fleet, '/api/v1/runs', {
    ...{ kind: 'erase', selection: { keys: [{ text: canary }] }, reason: 'ticket 17', expect_count: 3 },
  })
  expect(created.text).toContain('"id"')
  const { id: runId } = created.json() as { id: string }
  await eventually(async () => {
    const [erasing] = await sql`select status, status_reason from dlq.dlq_runs where id = ${runId}`
    expect(erasing).toMatchObject({ status: 'completed' })
  })
  expect(await findCanary({ sql })).toEqual([])
  const proof = await fleet.request(`/api/v1/runs/${runId}/proof`, { headers: { authorization } })
  mkdirSync(place('proofs'))
  writeFileSync(join(place('proofs'), `${runId}.json`), proof.text)
  await fleet.stop()
  const sentBefore = await sentOfKey()
  expect(sentBefore).toBe(3)
  process.kill(first.pid, 'SIGKILL')
  await first.exited
  await archiveRest(dataDir, place('archive'))

  await layOutRestore(place('backup'), place('restored'))
  const settings = { ...quick, ...restoringFrom(place('archive'), { atBackup: true }) }
  const second = await startPostgres({ dataDir: place('restored'), reaper, settings })
  stack.defer(() => second.stop())
  const restored = open(second.url)
  await eventually(async () => expect(await restored`select pg_is_in_recovery() as is`).toEqual([{ is: false }]))
  expect(await findCanary({ sql: restored })).toContainEqual(expect.stringContaining('dlq_messages_archive'))
  expect(await statusOf(restored, idOf('being sent'))).toBe('RETRYING')
  const { stdout } = await run(process.execPath, ['db/erase-again.ts', '--proofs', place('proofs')], {
    cwd: root,
    env: { ...process.env, DATABASE_URL: second.url },
  })
  expect(stdout).toBe(`${runId}.json: ${states.length} messages erased\n`)
  expect(await findCanary({ sql: restored })).toEqual([])
  await eventually(async () => expect(await findInFiles({ sql: restored })).toEqual([]))

  const after = fleetOn(second.url, 'after')
  await after.startAll()
  // Its consumer fails again, with a record of before.
  await produce([
    {
      ...{ key: canary, value: JSON.stringify({ name: canary }) },
      headers: { 'dlq-message-id': idOf('sent'), 'dlq-attempt': '1' },
    },
  ])
  const readTo = async () => {
    const [row] = await restored`select sum(next_offset)::int as n from dlq.dlq_positions where topic = ${dlq}`
    return row!.n
  }
  await eventually(async () => expect(await readTo()).toBe(total + 1))
  // All partitions are read once more, and so is what the restored database has never seen.
  await after.get('ingester').stop('SIGTERM', 60_000)
  await restored`delete from dlq.dlq_positions`
  await restored`delete from dlq.dlq_messages where record_key is null or record_key = 'other-3'`
  await after.start('ingester')
  await eventually(async () => expect(await readTo()).toBe(total + 1))
  expect(await findCanary({ sql: restored })).toEqual([])
  // Each stands once, as erased or as it was; the archived one, whose record was read again, in both tables.
  const [counted] = await restored`
    select count(*)::int as rows, count(*) filter (where erased_at is not null)::int as erased, count(distinct id)::int as ids
    from (select id, erased_at from dlq.dlq_messages union all select id, erased_at from dlq.dlq_messages_archive) m`
  expect(counted).toEqual({ rows: total + 1, erased: states.length + 1, ids: total })
  expect(await sentOfKey()).toBe(sentBefore)
  await after.stop()
  const service = connectAsService(second.url)
  stack.defer(() => service.end({ timeout: 5 }))
  const drift = await service.begin(async (sql) => {
    await foldSummary(sql, { limit: 100_000 })
    return reconcileSummary(sql)
  })
  expect(drift).toBe(0)
})
