// Bulk runs in a real fleet, with a database of their own: carried on while retriers, the API and PostgreSQL are
// killed by SIGKILL, and cancelled half-way.
import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { insertDueRows } from 'dlq-testing/due-rows.ts'
import { useLogFolder } from 'dlq-testing/log-folder.ts'
import { openOwnStack } from 'dlq-testing/own-stack.ts'
import { readTopic } from 'dlq-testing/read-topic.ts'
import type { Reaper } from 'dlq-testing/reaper.ts'
import { createFleet, type Fleet } from 'dlq-testing/service-fleet.ts'
import type { Stack } from 'dlq-testing/stack.ts'
import { useTopics } from 'dlq-testing/test-topics.ts'
import type postgres from 'postgres'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'

const soak = process.env.DLQ_SOAK === '1'
const total = soak ? 100_000 : 800
const batchSize = soak ? 200 : 10
const partitions = 3
const patient = { timeout: soak ? 1_800_000 : 90_000, interval: 200 }

type Run = {
  status: string
  matched: { value: number }
  progress: Record<'taken' | 'waiting' | 'resolved' | 'failed' | 'failed_again' | 'withdrawn' | 'given_back', number>
}

const topics = useTopics()
const logs = useLogFolder()
let release: AsyncDisposableStack | undefined
let stack: Stack
let sql: postgres.Sql
let fleet: Fleet
let reaper: Reaper

beforeAll(async () => {
  await using opened = new AsyncDisposableStack()
  const postgresSettings = { shared_buffers: '64MB' }
  const kafkaBrokers = topics.brokers.join()
  const servers = { dataDir: `${logs.path}/stack`, postgresSettings, kafkaBrokers }
  ;({ stack, sql, reaper } = await openOwnStack(opened, servers))
  release = opened.move()
})

afterAll(() => release?.disposeAsync())

beforeEach(async () => {
  await sql`truncate dlq.dlq_messages, dlq.dlq_attempts, dlq.dlq_runs, dlq.dlq_run_deltas, dlq.dlq_run_skipped`
  await sql`truncate saga.saga_states, saga.saga_step_logs, graphile_worker._private_jobs`
  fleet = createFleet({
    ...{ databaseUrl: stack.databaseUrl, kafkaBrokers: stack.kafkaBrokers, reaper, logDir: logs.path },
    ...{ topicPattern: topics.topicName('runs', '.dlq.v1'), consumerGroup: topics.groupName('runs') },
    env: {
      DLQ_RETRY_LEASE: '3s',
      DLQ_WORKER_LEASE: '3s',
      DLQ_RETRY_BATCH_SIZE: String(batchSize),
      DLQ_KAFKA_REQUEST_TIMEOUT: '5s',
    },
  })
})

/** Rows that only a run sends. */
async function insertWaiting(topic: string, { count, from = 0 }: { count: number; from?: number }): Promise<void> {
  // At once, or a retrier might find them due in between.
  await sql.begin(async (sql) => {
    await insertDueRows(sql, { count, topics: [topic], partitions, from })
    await sql`update dlq.dlq_messages set next_retry_at = null where next_retry_at is not null`
  })
}

async function retryAll(topic: string): Promise<string> {
  const asked = await fleet.request(`/api/v1/dlq/${topic}/retry-all`, { method: 'POST', headers: { prefer: 'wait=0' } })
  expect(asked.status, asked.text).toBe(202)
  const [run] = await sql<{ id: string }[]>`select id from dlq.dlq_runs`
  return run!.id
}

/** The run as the API tells it; whatever dies meanwhile. */
async function readRun(id: string): Promise<Run | null> {
  const answer = await fleet.request(`/api/v1/runs/${id}`).catch(() => null)
  return answer?.status === 200 ? (answer.json() as Run) : null
}

function expectToAddUp({ progress }: Run): void {
  const { taken, waiting, resolved, failed, failed_again, withdrawn, given_back } = progress
  expect(waiting + resolved + failed + failed_again + withdrawn + given_back).toBe(taken)
}

async function idsIn(topic: string): Promise<string[]> {
  const records = await readTopic(topics.kafka, { topic, groupId: topics.groupName('reader') })
  return records.map(({ headerPairs }) => String(headerPairs.find(([name]) => name === 'dlq-message-id')?.[1]))
}

test('a run is completed by itself while everything is killed: each message once, the late ones not at all', {
  timeout: soak ? 2_400_000 : 400_000,
}, async () => {
  const topic = await topics.createTopic('orders-crash', { partitions })
  await insertWaiting(topic, { count: total })
  const instances = ['retrier-1', 'retrier-2', 'api'] as const
  const kindOf = (instance: string) => (instance === 'api' ? ('api' as const) : ('retrier' as const))
  let isOver = false
  const supervise = async (instance: string) => {
    while (!isOver) await (await fleet.start(kindOf(instance), instance)).exited
  }
  const supervised = Promise.all(instances.map(supervise))
  try {
    await vi.waitFor(() => fleet.get('api').ready(), { timeout: 60_000 })
    const id = await retryAll(topic)
    await insertWaiting(topic, { count: 50, from: total })
    let kills = 0
    let settled = 0
    let isRestarted = false
    const deadline = Date.now() + patient.timeout * 3
    for (let run = await readRun(id); run?.status !== 'completed'; run = await readRun(id)) {
      if (Date.now() > deadline) throw new Error(`the run stands at ${JSON.stringify(run)}`)
      await sleep(700)
      if (run === null) continue
      expectToAddUp(run)
      if (run.progress.taken === settled && settled < total && run.progress.resolved === 0) continue
      if (run.progress.resolved + run.progress.taken > settled) {
        settled = run.progress.resolved + run.progress.taken
        await fleet.get(instances[randomInt(instances.length)]!).stop('SIGKILL', 0)
        kills += 1
      }
      if (!isRestarted && run.progress.resolved > (soak ? total / 3 : 0)) {
        isRestarted = true
        process.kill(stack.postgres!.pid, 'SIGKILL')
        await stack.postgres!.restart()
      }
    }
    const run = (await readRun(id))!
    expect(run).toMatchObject({ matched: { value: total }, progress: { taken: total, resolved: total, waiting: 0 } })
    const states = await sql`select status, run_id, count(*)::int from dlq.dlq_messages group by 1, 2 order by 1`
    expect([...states]).toEqual([
      { status: 'PENDING', run_id: null, count: 50 },
      { status: 'RESOLVED', run_id: null, count: total },
    ])
    const rows = await sql<{ id: string }[]>`select id from dlq.dlq_messages where status = 'RESOLVED'`
    expect((await idsIn(topic)).sort()).toEqual(rows.map(({ id }) => id).sort())
    const [saga] = await sql`select status from saga.saga_states`
    expect(saga).toEqual({ status: 'COMPLETED' })
    console.log(`${total} messages, ${kills} kills of services, ${isRestarted ? 1 : 0} of PostgreSQL`)
  } finally {
    isOver = true
    await fleet.stop()
    await supervised
  }
})

test('a run that is cancelled on its way sends nothing more, gives back the rest, and its counts add up', {
  timeout: 400_000,
}, async () => {
  const topic = await topics.createTopic('orders-cancel', { partitions })
  // So many, and stopped so early, that it cannot be over before the pause comes.
  const [count, enough] = soak ? [total, total / 2] : [3000, 20]
  await insertWaiting(topic, { count })
  await fleet.start('retrier')
  await (await fleet.start('api')).ready()
  try {
    const id = await retryAll(topic)
    await vi.waitFor(async () => expect((await readRun(id))!.progress.resolved).toBeGreaterThan(enough), patient)
    await fleet.request(`/api/v1/runs/${id}/pause`, { method: 'POST' })
    // A claim that began before the pause takes its messages a moment after it.
    await sleep(1000)
    await vi.waitFor(
      async () => expect(await sql`select from dlq.dlq_messages where status = 'RETRYING'`).toHaveLength(0),
      patient,
    )
    const paused = (await readRun(id))!
    const answer = await fleet.request(`/api/v1/runs/${id}/cancel`, { method: 'POST' })
    expect(answer.status, answer.text).toBe(200)
    await vi.waitFor(async () => expect(await readRun(id)).toMatchObject({ status: 'cancelled' }), patient)

    const run = (await readRun(id))!
    expectToAddUp(run)
    expect(run.progress).toMatchObject({ resolved: paused.progress.resolved, waiting: 0 })
    expect(run.progress.given_back).toBe(run.progress.taken - run.progress.resolved)
    const states =
      await sql`select status, retry_count, next_retry_at, run_id, count(*)::int from dlq.dlq_messages group by 1, 2, 3, 4 order by 1`
    expect([...states]).toEqual([
      { status: 'PENDING', retry_count: 0, next_retry_at: null, run_id: null, count: count - run.progress.resolved },
      { status: 'RESOLVED', retry_count: 1, next_retry_at: null, run_id: null, count: run.progress.resolved },
    ])
    expect(await idsIn(topic)).toHaveLength(run.progress.resolved)
    const [saga] = await sql<{ status: string; id: string }[]>`select status, id from saga.saga_states`
    expect(saga!.status).toBe('CANCELLED')
    const steps = await sql<{ step: string }[]>`
      select step_name || ' ' || action || ' ' || status as step from saga.saga_step_logs where saga_id = ${saga!.id}`
    expect(steps.map(({ step }) => step)).toEqual(
      expect.arrayContaining(['all COMPENSATE SUCCESS', 'admit COMPENSATE SUCCESS']),
    )
  } finally {
    await fleet.stop()
  }
})

test.runIf(soak)('after a cancel nothing is sent from two seconds on', { timeout: 400_000 }, async () => {
  const topic = await topics.createTopic('orders-stop', { partitions })
  await insertWaiting(topic, { count: total })
  await fleet.start('retrier')
  await (await fleet.start('api')).ready()
  try {
    const id = await retryAll(topic)
    await vi.waitFor(async () => expect((await readRun(id))!.progress.resolved).toBeGreaterThan(total / 2), patient)
    await fleet.request(`/api/v1/runs/${id}/cancel`, { method: 'POST' })
    const cancelledAt = new Date()
    await vi.waitFor(async () => expect(await readRun(id)).toMatchObject({ status: 'cancelled' }), patient)
    const [row] = await sql<{ late_ms: number }[]>`
      select coalesce(extract(epoch from max(settled_at) - ${cancelledAt}::timestamptz) * 1000, 0)::float8 as late_ms from dlq.dlq_attempts`
    console.log(`the last message was settled ${Math.round(row!.late_ms)} ms after the cancel was answered`)
    expect(row!.late_ms).toBeLessThan(2000)
  } finally {
    await fleet.stop()
  }
})
