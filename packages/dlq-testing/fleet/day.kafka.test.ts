// The commonest day of an operator: a consumer is broken, its messages go DEAD, it is mended, and everything has to be
// sent again, once, a few first. And the other one: the retries of a topic have to stop now.
import type { Header } from 'dlq-core/domain/record/record.ts'
import { eventually, nothingHappensFor } from 'dlq-testing/eventually.ts'
import { useFleet } from 'dlq-testing/fleet/test-fleet.ts'
import { insertDueRows } from 'dlq-testing/rows/due-rows.ts'
import { springDeadLetter } from 'dlq-testing/rows/spring-dead-letter.ts'
import type { Consumer } from 'kafkajs'
import { afterAll, beforeAll, expect, test } from 'vitest'

const soak = process.env.DLQ_SOAK === '1'
const plain = soak ? 5000 : 60
const poisoned = soak ? 500 : 6
const total = plain + poisoned
const patience = { intervalMs: 200 }
/** From the answer to a pause until nothing is published any more. */
const silentWithinMs = 2000

const fleet = useFleet('day', {
  partitions: 2,
  env: {
    DLQ_RETRY_INITIAL_DELAY: '100ms',
    DLQ_RETRY_MULTIPLIER: '1',
    DLQ_RETRY_MAX_RETRIES: '1',
    // A pause of the group would keep its messages from going DEAD.
    DLQ_RETRY_REFAILURE_THRESHOLD: '0',
    DLQ_RETRY_BATCH_SIZE: '50',
    DLQ_RETRY_AUTO_RESOLVE: '1s',
    DLQ_VERDICTS_LOOK_INTERVAL: '1s',
    DLQ_VERDICTS_HORIZON: '1s',
  },
})

let isBroken = true
let group: string
/** How often the consumer has handled each order. */
const handled = new Map<number, number>()
let consumer: Consumer | undefined

beforeAll(async () => {
  await fleet.services.startAll()
  group = fleet.topics.groupName('shop')
  consumer = fleet.topics.kafka.consumer({ groupId: group, maxWaitTimeInMs: 50 })
  await consumer.connect()
  await consumer.subscribe({ topics: [fleet.original], fromBeginning: true })
  await consumer.run({
    eachBatch: async ({ batch: { partition, messages }, resolveOffset, heartbeat }) => {
      const letters = messages.flatMap(({ offset, timestamp, key, value, headerPairs: headers }) => {
        const error = handle(String(value))
        if (error === null) return []
        const failed = { partition, offset: BigInt(offset), timestamp: BigInt(timestamp), key, value }
        return [springDeadLetter({ ...failed, topic: fleet.original, headers: headers as Header[], group, error })]
      })
      // Thousands at once would be larger than a broker takes.
      for (let at = 0; at < letters.length; at += 100)
        await fleet.producer.send({ topic: fleet.dlq, messages: letters.slice(at, at + 100) })
      resolveOffset(messages.at(-1)!.offset)
      await heartbeat()
    },
  })
})

afterAll(() => consumer?.disconnect())

/** What the consumer does with an order: null where it has handled it. */
function handle(value: string): Error | null {
  const { n, amount } = JSON.parse(value) as { n: number; amount: number }
  if (amount < 0) return Object.assign(new Error(`amount ${amount} is negative`), { name: 'com.shop.NegativeAmount' })
  if (isBroken) return Object.assign(new Error('the shop is down'), { name: 'com.shop.Down' })
  handled.set(n, (handled.get(n) ?? 0) + 1)
  return null
}

async function countRows(status: string): Promise<number> {
  const [row] = await fleet.database.sql<{ n: number }[]>`
    select count(*)::int as n from dlq.dlq_messages where status = ${status}`
  return row!.n
}

const post = (path: string, body: object) =>
  fleet.services.request(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

type Group = { id: string; error_class: string; regressed: boolean; state: string; counts: Record<string, number> }

async function groupOf(errorClass: string): Promise<Group> {
  const { groups } = (await fleet.services.request(`/api/v1/groups?dlq_topic=${fleet.dlq}`)).json() as {
    groups: Group[]
  }
  return groups.find(({ error_class }) => error_class === errorClass)!
}

/** Starts a run, first one message, then a tenth, then all; waits for its end. */
async function run(body: object) {
  const canary = Object.fromEntries([
    ['first', 1],
    ['then', '10%'],
    ['wait', '300ms'],
    ['max_refailure', '0%'],
  ])
  const asked = await post('/api/v1/runs', { kind: 'retry', force: true, canary, ...body })
  expect(asked.status, asked.text).toBe(202)
  const { id } = asked.json() as { id: string }
  return eventually(async () => {
    const answer = (await fleet.services.request(`/api/v1/runs/${id}`)).json()
    expect(answer).toMatchObject({ status: 'completed' })
    return answer as { id: string }
  }, patience)
}

test('what went DEAD while a consumer was broken is sent again by forced runs, a canary first, and handled once', {
  timeout: soak ? 1_200_000 : 300_000,
}, async () => {
  const orders = Array.from({ length: total }, (_, n) => ({ n, amount: n < plain ? 5 : -5 }))
  const messages = orders.map((order) => ({ key: `${order.n}`, value: JSON.stringify(order) }))
  for (let at = 0; at < messages.length; at += 1000)
    await fleet.producer.send({ topic: fleet.original, messages: messages.slice(at, at + 1000) })
  await eventually(async () => expect(await countRows('DEAD')).toBe(total), patience)

  isBroken = false
  const down = await groupOf('com.shop.Down')
  const negative = await groupOf('com.shop.NegativeAmount')
  const ofDown = { selection: { group: down.id }, reason: 'the shop is mended' }
  const dryRun = async (body: object) =>
    (await post('/api/v1/runs', { kind: 'retry', dry_run: true, ...ofDown, ...body })).json()
  // Before force there was no way on from here.
  expect(await dryRun({})).toMatchObject({ eligible: 0, ineligible: { dead: plain } })
  expect(await dryRun({ force: true })).toMatchObject({ matched: { value: plain }, eligible: plain })
  const sent = await run({ ...ofDown, expect_count: plain })
  expect(sent).toMatchObject({
    progress: { taken: plain, resolved: plain, failed_again: 0 },
  })

  const patch = [
    { op: 'test', path: '/amount', value: -5 },
    { op: 'replace', path: '/amount', value: 5 },
  ]
  const poison = { selection: { group: negative.id }, patch, reason: 'the sign was wrong' }
  const mended = await run(poison)
  expect(mended).toMatchObject({ progress: { taken: poisoned, resolved: poisoned, failed_again: 0 } })

  await eventually(() => expect(handled.size).toBe(total), patience)
  await nothingHappensFor(500)
  expect([...handled.values()].every((times) => times === 1)).toBe(true)
  expect(await countRows('RESOLVED')).toBe(total)
  // Sent is not read: its consumer has committed past all of them, and nothing came back.
  const verdictsOf = async (ofRun: { id: string }) =>
    (await fleet.services.request(`/api/v1/runs/${ofRun.id}`)).json() as { progress: { verdicts: object } }
  await eventually(async () => {
    const readers = (await fleet.services.request(`/api/v1/topics/${fleet.original}/readers`)).json()
    const reader = { consumer_group: group, type: 'classic', state: 'Stable', members: 1 }
    expect(readers).toMatchObject({ readers: [reader] })
  }, patience)
  await eventually(async () => {
    await passTime()
    expect(await verdictsOf(sent)).toMatchObject({ progress: { verdicts: { consumed: plain, sent: 0, passed: 0 } } })
    expect(await verdictsOf(mended)).toMatchObject({ progress: { verdicts: { consumed: poisoned } } })
  }, patience)
  await eventually(async () => {
    await post('/api/v1/cron/sweep/run', { reason: 'now' })
    for (const [errorClass, count] of [
      ['com.shop.Down', plain],
      ['com.shop.NegativeAmount', poisoned],
    ] as const) {
      expect(await groupOf(errorClass)).toMatchObject({
        ...{ state: 'resolved', regressed: false, counts: { PENDING: 0, DEAD: 0, RESOLVED: count } },
      })
    }
  }, patience)
  const [entry] = await fleet.database.sql`
    select actor, reason from dlq.dlq_audit where target_id = ${down.id} order by id desc limit 1`
  expect(entry).toEqual({ actor: 'auto', reason: 'auto_resolve: nothing failed for 1s, and all was read' })
})

/** What was read counts as read a minute earlier: the looks at DLQ topics that prove it quiet are half a minute apart. */
async function passTime(): Promise<void> {
  await fleet.database.sql`
    update dlq.dlq_reader_partitions set marks = (
      select json_agg(json_build_object('below', mark.below, 'at', mark.at - interval '1 minute') order by mark.below)
      from json_to_recordset(marks) as mark (below bigint, at timestamptz))
    where json_array_length(marks) > 0`
}

test('four retriers are silent soon after somebody pauses the topic, and go on when the pause is over', {
  timeout: 300_000,
}, async () => {
  const { sql } = fleet.database
  const { services, topics } = fleet
  const topic = await topics.createTopic('stormy')
  await sql`insert into dlq.dlq_policies (pattern, rate_per_second) values (${topic}, 200)`
  const more = await Promise.all([2, 3, 4].map((n) => services.start('retrier', `retrier-${n}`)))
  await Promise.all(more.map((retrier) => retrier.ready()))
  await insertDueRows(sql, { count: 1500, topics: [topic], partitions: 1, from: 0 })
  const published = async () => {
    const [row] = await sql<{ n: number; last: Date | null }[]>`
        select count(*)::int as n, max(settled_at) as last from dlq.dlq_attempts where target_topic = ${topic}`
    return row!
  }
  await eventually(async () => expect((await published()).n).toBeGreaterThan(100), patience)

  const until = new Date(Date.now() + 5000)
  const asked = await post(`/api/v1/topics/${topic}/pause`, { reason: 'it makes things worse', until })
  expect(asked.status, asked.text).toBe(200)
  const [now] = await sql<{ at: Date }[]>`select clock_timestamp() as at`
  await nothingHappensFor(silentWithinMs)
  const silent = await published()
  await nothingHappensFor(1000)
  expect((await published()).n).toBe(silent.n)
  expect(silent.n).toBeLessThan(1500)
  expect(silent.last!.getTime() - now!.at.getTime()).toBeLessThan(silentWithinMs)
  if (soak) console.log(`silent ${silent.last!.getTime() - now!.at.getTime()} ms after the answer`)

  await eventually(async () => expect((await published()).n).toBeGreaterThan(silent.n), patience)
  const [first] = await sql<{ at: Date }[]>`
      select min(started_at) as at from dlq.dlq_attempts where target_topic = ${topic}
      -- A Date has lost the microseconds.
      and settled_at > ${silent.last!}::timestamptz + interval '10 ms'`
  expect(first!.at.getTime()).toBeGreaterThanOrEqual(until.getTime() - 1000)
})

test('nothing is ingested from a DLQ topic while its ingestion is paused, and all of it afterwards', async () => {
  const rowsNow = async () =>
    (await fleet.database.sql`select from dlq.dlq_messages where dlq_topic = ${fleet.dlq}`).length
  const before = await rowsNow()
  const pause = (action: 'pause' | 'resume') =>
    post(`/api/v1/topics/${fleet.dlq}/${action}`, { what: 'ingestion', reason: 'it floods us' })
  expect((await pause('pause')).status).toBe(200)
  // The ingesters look twice a second.
  await nothingHappensFor(silentWithinMs)
  await fleet.producer.send({ topic: fleet.dlq, messages: Array.from({ length: 20 }, (_, n) => ({ value: `${n}` })) })
  await nothingHappensFor(1500)
  expect(await rowsNow()).toBe(before)
  expect((await pause('resume')).status).toBe(200)
  await eventually(async () => expect(await rowsNow()).toBe(before + 20), patience)
})
