// Bulk runs in a real fleet: one continues while retriers, the API and PostgreSQL are killed by SIGKILL, one is
// cancelled half-way. The file owns its PostgreSQL.
import { setTimeout as sleep } from 'node:timers/promises'
import { useLogFolder } from 'dlq-testing/fleet/log-folder.ts'
import { openOwnStack } from 'dlq-testing/fleet/own-stack.ts'
import { createFleet, type Fleet } from 'dlq-testing/fleet/service-fleet.ts'
import { readTopic } from 'dlq-testing/kafka/read-topic.ts'
import { useTopics } from 'dlq-testing/kafka/test-topics.ts'
import type { Reaper } from 'dlq-testing/process/reaper.ts'
import { insertDueRows } from 'dlq-testing/rows/due-rows.ts'
import type { Stack } from 'dlq-testing/stack.ts'
import type postgres from 'postgres'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'

const soak = process.env.DLQ_SOAK === '1'
const total = soak ? 100_000 : 400
const batchSize = soak ? 200 : 10
const partitions = 3
/** A claim that began before a pause takes its messages a moment after it. */
const lateClaimMs = 1000
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
  await sql`truncate dlq.dlq_messages, dlq.dlq_attempts, dlq.dlq_runs, dlq.dlq_run_deltas, dlq.dlq_run_skipped, dlq.dlq_run_undo,
    dlq.dlq_run_verdicts`
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
  // In one statement, or a retrier might find them due in between.
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

/** The run as the API shows it; null while the API or PostgreSQL is down. */
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

test('a run completes while retriers, API and PostgreSQL are killed: it sends each message once, and no message that came after its start', {
  timeout: soak ? 2_400_000 : 400_000,
}, async () => {
  const topic = await topics.createTopic('orders-crash', { partitions })
  // Else a quick machine has sent a small run before anything is killed.
  if (!soak) await sql`insert into dlq.dlq_policies (pattern, rate_per_second) values (${topic}, 80)`
  await insertWaiting(topic, { count: total })
  const instances = ['api', 'retrier-1', 'retrier-2'] as const
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
    const kills = { retrier: 0, api: 0, postgres: 0 }
    let settled = 0
    const deadline = Date.now() + patient.timeout * 3
    for (let run = await readRun(id); run?.status !== 'completed'; run = await readRun(id)) {
      if (Date.now() > deadline) throw new Error(`the run stands at ${JSON.stringify(run)}`)
      // Quick until each kind was killed once: a small run may be over soon.
      await sleep(Math.min(...Object.values(kills)) === 0 ? 100 : 700)
      if (run === null) continue
      expectToAddUp(run)
      if (run.progress.taken === settled && settled < total && run.progress.resolved === 0) continue
      if (run.progress.resolved + run.progress.taken > settled) {
        settled = run.progress.resolved + run.progress.taken
        // In turn, so that both kinds are killed in a run that is over early.
        const instance = instances[(kills.retrier + kills.api) % instances.length]!
        await fleet.get(instance).stop('SIGKILL', 0)
        kills[kindOf(instance)] += 1
      }
      if (kills.postgres === 0 && run.progress.resolved > (soak ? total / 3 : 0)) {
        process.kill(stack.postgres!.pid, 'SIGKILL')
        await stack.postgres!.restart()
        kills.postgres += 1
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
    console.log(`${total} messages, kills: ${JSON.stringify(kills)}`)
    expect(Math.min(...Object.values(kills)), JSON.stringify(kills)).toBeGreaterThan(0)
  } finally {
    isOver = true
    await fleet.stop()
    await supervised
  }
})

test('a run that is cancelled half-way sends nothing more, gives back the rest, and its counts add up', {
  timeout: 400_000,
}, async () => {
  const topic = await topics.createTopic('orders-cancel', { partitions })
  // With this many messages, and paused this early, the run cannot have ended before the pause.
  const [count, enough] = soak ? [total, total / 2] : [3000, 20]
  await insertWaiting(topic, { count })
  await fleet.start('retrier')
  await (await fleet.start('api')).ready()
  try {
    const id = await retryAll(topic)
    await vi.waitFor(async () => expect((await readRun(id))!.progress.resolved).toBeGreaterThan(enough), patient)
    await fleet.request(`/api/v1/runs/${id}/pause`, { method: 'POST' })
    await sleep(lateClaimMs)
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
