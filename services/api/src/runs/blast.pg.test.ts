// What a dry run says of the groups that its messages would reach.

import { createHash } from 'node:crypto'
import { defaultRetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import { expect, test } from 'vitest'
import { seesAll } from '../masks/sight.ts'
import { answerOf, createTestApp, type TestAppOptions } from '../test-app.ts'
import { type Blast, blastOf, timeOf } from '../topics/blast.ts'
import { orders, useRuns } from './test-run-requests.ts'

const { database, service, insert, ask } = useRuns()

/** A group that has read the first offsets of partition 0 of a topic. */
async function reader(topic: string, group: string, read: number, columns: object = {}): Promise<void> {
  await database.sql`
    insert into dlq.dlq_readers ${database.sql({
      ...{ target_topic: topic, consumer_group: group, type: 'classic', state: 'Stable', members: 1, horizon: '1 s' },
      ...columns,
    })}`
  await database.sql`
    insert into dlq.dlq_reader_partitions (
      target_topic, consumer_group, partition, committed_offset, log_start_offset, log_end_offset, passed_offset)
    values (${topic}, ${group}, 0, ${read}, 0, 100, ${read})`
}

const dryRun = async (body: object = {}) =>
  ((await ask({ kind: 'retry', selection: orders, dry_run: true, ...body })).body as { blast: Blast }).blast

test('a dry run names who else gets the records, who had them before, and what they weigh', async () => {
  for (let offset = 0; offset < 4; offset += 1)
    await insert({
      ...{ original_partition: offset === 3 ? 1 : 0, original_offset: offset, consumer_group: 'billing' },
      record_value: Buffer.alloc(100),
    })
  await insert({ status: 'DEAD', consumer_group: 'billing', original_partition: 0, original_offset: 9 })
  await reader('orders', 'billing', 100, { members: 3, per_second: 10, best_per_second: 10.05 })
  await reader('orders', 'search', 2, { per_second: 40, best_per_second: 95, produced_per_second: 41 })
  await reader('orders', 'gone-by', 0, { members: 0, alone_since: new Date(Date.now() - 2 * 86_400_000) })
  expect((await dryRun()).targets).toEqual([
    {
      ...{ topic: 'orders', messages: { value: 4, relation: 'eq' }, bytes: { value: 400, relation: 'eq' } },
      ...{ produced_per_second: 41, hottest_partition: { partition: 0, messages: 3 }, gone_groups: 1 },
      staleness: { superseded: 0, waiting: 0, unknown: 0, held: false, examined: 4 },
      groups: [
        {
          ...{
            group: 'billing',
            role: 'failed',
            type: 'classic',
            state: 'Stable',
            members: 3,
            lag: 0,
            seen_before: null,
          },
          ...{ per_second: 10, best_per_second: 10.05, minutes: null, catches_up: null },
        },
        {
          ...{
            group: 'search',
            role: 'bystander',
            type: 'classic',
            state: 'Stable',
            members: 1,
            lag: 98,
            seen_before: 2,
          },
          ...{ per_second: 40, best_per_second: 95, minutes: 0, catches_up: true },
        },
      ],
    },
  ])
  expect((await dryRun({ force: true, reason: 'mended' })).targets[0]).toMatchObject({ messages: { value: 5 } })
  const elsewhere = await dryRun({ kind: 'redirect', target_topic: 'parking' })
  expect(elsewhere.targets).toMatchObject([{ topic: 'parking', messages: { value: 4 }, groups: [] }])
  expect(await dryRun({ kind: 'dead' })).toBeUndefined()
})

test('a dry run counts what would bring an older state after a newer one', async () => {
  const key = (text: string) => Buffer.from(`${'a long beginning that many keys share, '.repeat(3)}${text}`)
  const at = (text: string, offset: number, columns: object = {}) =>
    insert({
      ...{ original_partition: 0, original_offset: offset, record_key: key(text), consumer_group: 'billing' },
      ...columns,
    })
  for (const text of ['sent', 'read', 'waits', 'alone', 'unnamed']) await at(text, 1)
  await at('sent', 2, { status: 'RESOLVED' })
  await at('read', 2, { consumer_group: 'search', status: 'DEAD' })
  await at('waits', 2, { consumer_group: 'billing-retry-0', status: 'DEAD' })
  // Nobody says whose it is: perhaps the same group's.
  await at('unnamed', 2, { consumer_group: null, status: 'DEAD' })
  await at('alone', 0, { status: 'RESOLVED' })
  await at('alone', 2, { status: 'RESOLVED', original_partition: 1 })
  await at('alone', 2, { status: 'RESOLVED', original_topic: 'shipments' })
  await insert({ consumer_group: 'billing' })
  expect((await dryRun()).targets).toMatchObject([
    { messages: { value: 6 }, staleness: { superseded: 2, waiting: 2, examined: 6 } },
  ])
  // What a retrier found, where a policy asks.
  const [old, unclear, unseen] = [await at('found', 1), await at('unclear', 1), await at('unseen', 1)]
  const answers = [
    { message_id: old, original_topic: 'orders', answer: 'superseded' },
    { message_id: unclear, original_topic: 'orders', answer: 'unknown' },
    { message_id: unseen, original_topic: 'orders', answer: 'waiting' },
  ]
  await database.sql`insert into dlq.dlq_staleness ${database.sql(answers)}`
  expect((await dryRun()).targets).toMatchObject([
    { messages: { value: 9 }, staleness: { superseded: 3, waiting: 2, unknown: 2, examined: 9 } },
  ])
  await database.sql`insert into dlq.dlq_policies (pattern, staleness) values ('orders', 'hold')`
  expect((await dryRun()).targets).toMatchObject([{ staleness: { superseded: 3, held: true } }])
  const elsewhere = await dryRun({ kind: 'redirect', target_topic: 'parking' })
  expect(elsewhere.targets).toMatchObject([{ staleness: { superseded: 0, waiting: 0, held: false, examined: 0 } }])
})

test('figures of a run of which only a part was examined are within a fifth of what it holds', async () => {
  const sizes = Array.from({ length: 400 }, (_, n) => 200 + ((n * 7919) % 400))
  const ids = await Promise.all(
    sizes.map((size, n) =>
      insert({
        ...{ original_partition: n % 5 === 0 ? 1 : 0, original_offset: n, consumer_group: 'billing' },
        record_value: Buffer.alloc(size),
      }),
    ),
  )
  // It has read half of them, and of partition 1 nothing is known.
  await reader('orders', 'search', 200, { per_second: 40, best_per_second: 100 })
  const [target] = (
    await blastOf(service.sql, {
      ...{ ids: ids.filter((_, n) => n % 3 === 0), matched: 400, examined: 134, isForced: false, scope: null },
      ...{ targetTopic: null, ratePerSecond: null, policyOf: () => defaultRetryPolicy, sight: seesAll },
    })
  ).targets
  const within = (value: number, exact: number) => expect(Math.abs(value - exact) / exact).toBeLessThan(0.2)
  expect(target).toMatchObject({ messages: { relation: 'about' }, bytes: { relation: 'about' } })
  within(target!.messages.value, 400)
  within(
    target!.bytes!.value,
    sizes.reduce((sum, size) => sum + size, 0),
  )
  expect(target!.hottest_partition?.partition).toBe(0)
  within(target!.hottest_partition!.messages, 320)
  const [search] = target!.groups
  within(search!.seen_before!, 160)
})

test('a token for some topics learns nothing of the groups of others', async () => {
  await insert({ target_topic: 'payments' })
  await reader('payments', 'secret-group', 5)
  const sha256 = createHash('sha256').update('secret-shop').digest('hex')
  const auth: NonNullable<TestAppOptions['auth']> = {
    tokens: [{ name: 'shop', sha256, role: 'sys_operator', topics: ['orders'] }],
  }
  const app = createTestApp(service.sql, { auth })
  const body = JSON.stringify({ kind: 'retry', selection: orders, dry_run: true })
  const headers = { authorization: 'Bearer secret-shop', 'content-type': 'application/json' }
  const answer = await answerOf(app('POST /api/v1/runs', { body, headers }))
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  expect(JSON.stringify(answer.body)).not.toContain('secret-group')
  expect(JSON.stringify(await dryRun())).toContain('secret-group')
})

test('how long a group takes follows from what its best rate leaves, and from the run’s rate', () => {
  const rates = { per_second: 40, best_per_second: 100, lag: 12 }
  expect(timeOf(rates, { messages: 3600, ratePerSecond: null })).toEqual({ minutes: 1, catches_up: true })
  expect(timeOf(rates, { messages: 3600, ratePerSecond: 10 })).toEqual({ minutes: 6, catches_up: true })
  expect(timeOf({ ...rates, best_per_second: null }, { messages: 1, ratePerSecond: null })).toEqual({
    minutes: null,
    catches_up: null,
  })
})

test('a group that is behind at its best rate would not catch up; how fast one that keeps up could be, nobody knows', () => {
  const rates = { per_second: 40, best_per_second: 40 }
  const of = { messages: 3600, ratePerSecond: null }
  expect(timeOf({ ...rates, lag: 5000 }, of)).toEqual({ minutes: null, catches_up: false })
  expect(timeOf({ ...rates, lag: 12 }, of)).toEqual({ minutes: null, catches_up: null })
  expect(timeOf({ ...rates, lag: 0 }, of)).toEqual({ minutes: null, catches_up: null })
  expect(timeOf({ ...rates, lag: null }, of)).toEqual({ minutes: null, catches_up: null })
})
