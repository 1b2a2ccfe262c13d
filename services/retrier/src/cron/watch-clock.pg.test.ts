import { takeSlot } from 'dlq-core/queries/retry/slots.ts'
import { addJob } from 'dlq-core/queries/upkeep/workers.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { Registry } from 'prom-client'
import { beforeEach, expect, test } from 'vitest'
import { createClockMetrics, createClockWatch, onlyByAgreedClock } from './watch-clock.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const hoursMs = 2 * 3_600_000

beforeEach(async () => {
  await emptyTables(
    database.sql,
    ...['dlq.dlq_slots', 'dlq.dlq_retriers', 'dlq.dlq_ingesters', 'dlq.dlq_workers', 'dlq.dlq_topics'],
    ...['dlq.dlq_candidates', 'dlq.dlq_staleness_cursors'],
  )
})

function watchWith({ now = () => Date.now(), leaseMs = 30_000, lookMs = 15_000 } = {}) {
  const lines: string[] = []
  const note = (_: object, event: string) => void lines.push(event)
  const ahead = createClockMetrics(new Registry())
  const log = { info: note, warn: note } as never
  const pass = createClockWatch({ sql: service.sql, log, ahead, now, leaseMs, lookMs })
  return { lines, pass, aheadSeconds: async () => (await ahead.get()).values[0]!.value }
}

test('clocks that agree are not spoken of', async () => {
  const { pass, lines, aheadSeconds } = watchWith()
  await pass()
  expect(Math.abs(await aheadSeconds())).toBeLessThan(5)
  expect(lines).toEqual([])
})

test('clocks that differ are told of once, and once that they agree again', async () => {
  let behindMs = hoursMs
  const { pass, lines, aheadSeconds } = watchWith({ now: () => Date.now() - behindMs })
  await pass()
  await pass()
  expect(lines).toEqual(['clocks_differ'])
  expect(await aheadSeconds()).toBeCloseTo(7200, -1)
  behindMs = 0
  await pass()
  expect(lines).toEqual(['clocks_differ', 'clocks_agree'])
  behindMs = -hoursMs
  await pass()
  expect(lines).toEqual(['clocks_differ', 'clocks_agree', 'clocks_differ'])
})

test('what a clock wrote that was two hours ahead is due again, and a dead retrier’s slot is free', async () => {
  const { sql } = database
  await sql`insert into dlq.dlq_slots (slot, epoch, owner, owner_until) values (1, 1, 'dead', now() + interval '2 hours')`
  await sql`insert into dlq.dlq_retriers (id, publishes, seen_at) values ('dead', 'exactly-once', now() + interval '2 hours')`
  await sql`insert into dlq.dlq_workers (id, retrier, seen_at) values ('dead', 'dead', now() + interval '2 hours')`
  await sql`insert into dlq.dlq_topics (cluster, topic, partitions, look_due_at) values ('c', 'orders.dlq.v1', 1, now() + interval '2 hours')`
  await sql`update dlq.dlq_event_watch set look_due_at = now() + interval '2 hours', looked_at = now() + interval '2 hours'`
  await sql`update dlq.dlq_reader_watch set look_due_at = now() + interval '2 hours', looked_at = now() + interval '2 hours'`
  const { pass, lines } = watchWith({ leaseMs: 0 })
  await pass()
  await pass()
  expect(lines).toEqual(['database_clock_went_back'])
  const [left] = await sql<{ late: number }[]>`
    select (select count(*) from dlq.dlq_retriers where seen_at > now())::int
         + (select count(*) from dlq.dlq_workers where seen_at > now())::int
         + (select count(*) from dlq.dlq_topics where look_due_at > now())::int
         + (select count(*) from dlq.dlq_event_watch where look_due_at > now() or looked_at > now())::int
         + (select count(*) from dlq.dlq_reader_watch where look_due_at > now() or looked_at > now())::int as late`
  expect(left!.late).toBe(0)
  expect(await takeSlot(service.sql, { owner: 'next', leaseMs: 1000 })).toMatchObject({ slot: 1, epoch: 2n })
})

test('cron jobs go on after a retrier whose clock was a month ahead has scheduled them', async () => {
  const { sql } = database
  await sql`
    insert into graphile_worker._private_known_crontabs (identifier, known_since, last_execution)
    values ('fold', now(), now() + interval '1 month'), ('purge', now(), now() + interval '5 minutes')`
  const { pass, lines } = watchWith()
  await pass()
  expect(lines).toEqual(['database_clock_went_back'])
  const late = await sql`
    select identifier from graphile_worker._private_known_crontabs where last_execution > now() order by 1`
  expect(late.map(({ identifier }) => identifier)).toEqual(['purge'])
})

test('runs go on whose next step a clock ahead has scheduled; what is meant for later waits', async () => {
  const { sql } = database
  await emptyTables(sql, 'graphile_worker._private_jobs')
  const add = (task: string) => addJob(service.sql, { task, payload: {}, runAt: new Date(Date.now() + 2 * hoursMs) })
  await add('saga/run.send')
  await add('deliver_notification')
  await watchWith().pass()
  const waiting = await sql`select task_identifier as task from graphile_worker.jobs where run_at > now()`
  expect(waiting.map(({ task }) => task)).toEqual(['deliver_notification'])
})

test('a canary does not wait for the time at which it was read by a clock ahead', async () => {
  const { sql } = database
  const ahead = sql`now() + interval '1 month'`
  await sql`
    insert into dlq.dlq_runs (kind, status, actor, selection, until_id, matched, matched_relation, last_settled_at, read_at)
    values ('retry', 'running', 'ann', '{}', ${crypto.randomUUID()}, 1, 'eq', ${ahead}, ${ahead})`
  await watchWith().pass()
  const [run] = await sql`select last_settled_at <= now() as settled, read_at <= now() as read from dlq.dlq_runs`
  expect(run).toEqual({ settled: true, read: true })
})

test('a slot whose holder lives has a lease’s time to be renewed, and long leases stay', async () => {
  const { sql } = database
  await sql`
    insert into dlq.dlq_slots (slot, epoch, owner, owner_until)
    values (1, 1, 'lives', now() + interval '2 hours'), (2, 1, 'long', now() + interval '25 minutes')`
  await watchWith({ leaseMs: 15 * 60_000 }).pass()
  const rows = await sql<{ minutes: number }[]>`
    select round(extract(epoch from owner_until - now()) / 60)::int as minutes from dlq.dlq_slots order by slot`
  expect(rows.map(({ minutes }) => minutes)).toEqual([15, 25])
})

test.each([
  ['ahead of', -hoursMs],
  ['behind', hoursMs],
])('a job that deletes does nothing while the database’s clock is %s ours', async (words, byMs) => {
  let runs = 0
  const run = async () => ({ runs: ++runs })
  const context = { now: new Date(), signal: new AbortController().signal }
  const jobBy = (now: () => number) =>
    onlyByAgreedClock({ name: 'purge', schedule: 'off', run }, { sql: service.sql, now })
  await expect(jobBy(() => Date.now() + byMs).run(context)).rejects.toThrow(`s ${words} this retrier's`)
  const by = (minutes: number) => jobBy(() => Date.now() + Math.sign(byMs) * minutes * 60_000).run(context)
  await expect(by(6)).rejects.toThrow(words)
  expect(runs).toBe(0)
  expect([await by(4), await by(0)]).toEqual([{ runs: 1 }, { runs: 2 }])
})
