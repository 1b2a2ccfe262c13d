// An upgrade without a pause: the migrations run while services of the earlier version work, then both versions work
// side by side, then the new one alone. infra/docs/upgrade.md describes the same steps.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { migrateUp, migrationStatus } from 'dlq-db/migrate.ts'
import { eventually } from 'dlq-testing/eventually.ts'
import { earlierVersion, layOutVersion } from 'dlq-testing/fleet/earlier-version.ts'
import { useLogFolder } from 'dlq-testing/fleet/log-folder.ts'
import { createFleet, type Fleet } from 'dlq-testing/fleet/service-fleet.ts'
import { runFrom, serviceNames } from 'dlq-testing/fleet/service-process.ts'
import { createTopics } from 'dlq-testing/kafka/create-topics.ts'
import { readTopic } from 'dlq-testing/kafka/read-topic.ts'
import { useTopics } from 'dlq-testing/kafka/test-topics.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { createReaper } from 'dlq-testing/process/reaper.ts'
import { expect, test } from 'vitest'

const soak = process.env.DLQ_SOAK === '1'
const perPhase = soak ? 5000 : 60
const run = promisify(execFile)
const earlier = await earlierVersion()

const database = useDatabase({ empty: true })
const topics = useTopics()
const logs = useLogFolder()

/** Dead letters and requests to every API that is up, without a pause, until it is ended. */
async function startLoad({ dlq, original }: { dlq: string; original: string }) {
  const producer = topics.kafka.producer({ allowAutoTopicCreation: false })
  await producer.connect()
  const [failed, apis] = [[] as string[], new Set<Fleet>()]
  let [isOver, produced] = [false, 0]
  const ask = async () => {
    for (; !isOver; await sleep(10)) {
      for (const fleet of apis) {
        const answer = await fleet.request(`/api/v1/dlq/${dlq}`).catch(({ message }) => ({ status: 0, text: message }))
        if (answer.status !== 200 && apis.has(fleet)) failed.push(`${answer.status} ${answer.text}`)
      }
    }
  }
  const produce = async () => {
    for (; !isOver; await sleep(10)) {
      const headers = { 'dlq-original-topic': original, 'dlq-error-message': 'failed' }
      await producer.send({ topic: dlq, messages: [{ value: `{"n":${produced}}`, headers }] })
      produced += 1
    }
  }
  const work = Promise.all([ask(), produce()])
  return {
    apis,
    failed,
    produced: () => produced,
    async end() {
      isOver = true
      await work
      await producer.disconnect()
    },
  }
}

async function countResolved(): Promise<number> {
  const [row] = await database.sql<{ count: number }[]>`
    select count(*)::int as count from dlq.dlq_messages where status = 'RESOLVED'`
  return row!.count
}

async function untilMoreResolved(): Promise<void> {
  const before = await countResolved()
  await eventually(async () => expect(await countResolved()).toBeGreaterThan(before + perPhase))
}

test.skipIf(earlier === null)('an upgrade loses no request and no message, and sends none twice', async () => {
  await using stack = new AsyncDisposableStack()
  const reaper = stack.adopt(createReaper(), (reaper) => reaper.close())
  const root = join(logs.path, 'earlier')
  await layOutVersion(earlier!, root)
  const env = { ...process.env, DATABASE_URL: database.url }
  await run(process.execPath, [join(root, 'db/migrate.ts'), 'up'], { env, cwd: root })

  const original = topics.topicName('upgrade')
  const dlq = `${original}.dlq.v1`
  stack.defer(() => topics.admin.deleteTopics({ topics: [dlq] }))
  await createTopics(
    topics.admin,
    [original, dlq].map((topic) => ({ topic, numPartitions: 2 })),
  )
  const options = {
    ...{ databaseUrl: database.url, kafkaBrokers: topics.brokers, reaper, logDir: logs.path },
    ...{ topicPattern: dlq, consumerGroup: topics.groupName('upgrade') },
    env: { DLQ_RETRY_INITIAL_DELAY: '300ms' },
  }
  const before = createFleet({ ...options, command: runFrom(root) })
  stack.defer(() => before.stop())
  const after = createFleet(options)
  stack.defer(() => after.stop())

  await before.startAll()
  const load = await startLoad({ dlq, original })
  try {
    load.apis.add(before)
    await untilMoreResolved()
    await migrateUp({ databaseUrl: database.url })
    await untilMoreResolved()
    await after.startAll()
    load.apis.add(after)
    await untilMoreResolved()
    load.apis.delete(before)
    for (const name of serviceNames) await before.get(name).stop('SIGTERM', 60_000)
    await untilMoreResolved()
  } finally {
    await load.end()
  }
  expect(load.failed).toEqual([])
  await eventually(async () => expect(await countResolved()).toBe(load.produced()))
  const records = await readTopic(topics.kafka, { topic: original, groupId: topics.groupName('reader') })
  const seen = records.map(({ value }) => JSON.parse(String(value)).n as number).sort((a, b) => a - b)
  expect(seen).toEqual(Array.from({ length: load.produced() }, (_, n) => n))
  const status = await migrationStatus({ databaseUrl: database.url })
  expect(status.filter(({ appliedAt }) => appliedAt === null)).toEqual([])
})
