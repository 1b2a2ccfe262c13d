// Over any order of commits, looks, failures, and ingesters and retriers that stand still for a while: what comes back
// within the horizon was never called consumed. Kafka is a model here; the tables and the judging are the real ones.

import { keyOf, listReaders, listStoredUntil, recordReaders } from 'dlq-core/queries/readers/reader-watch.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { countRunVerdicts } from 'dlq-testing/rows/run-verdicts.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { judgePartition } from './judge-partition.ts'

import { noRates } from './reader-rates.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const horizonMs = 150_000
const lookMs = 30_000
const topic = 'orders'
const reader = { target_topic: topic, consumer_group: 'billing' }
const dlqTopic = 'orders.dlq.v1'
const runId = '01900000-0000-7000-8000-0000000000aa'

/** When a record that fails is dead-lettered: before its offset is committed, or so long after it. */
const failure = fc.oneof(fc.constant(null), fc.constant(0), fc.integer({ min: 0, max: horizonMs }))
const step = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constant('send' as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('handle' as const), failsAfterMs: failure }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 120_000 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('look at DLQ' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('ingest' as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('look' as const) }) },
  // All that has to be seen before anything may be called consumed, within the horizon.
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('look around' as const), ms: fc.integer({ min: 31_000, max: 60_000 }) }),
  },
)

/** What is left is read, and the horizon passes: else few of the orders would end with anything consumed. */
const quietEnd = [
  { do: 'look' },
  { do: 'wait', ms: horizonMs + lookMs + 10_000 },
  { do: 'ingest' },
  { do: 'look at DLQ' },
  { do: 'look' },
] as const

/** Kafka, the consumer and the services, at a time of ours. */
class World {
  now = Date.now() - 86_400_000
  readonly sent: string[] = []
  committed = 0
  /** Offset → when its dead letter is written. */
  readonly letters = new Map<number, number>()
  stored = 0

  /** The dead letters that are in Kafka by now, in their order. */
  written(): number[] {
    return [...this.letters]
      .filter(([, at]) => at <= this.now)
      .toSorted(([, a], [, b]) => a - b)
      .map(([offset]) => offset)
  }

  async send(): Promise<void> {
    const id = await insertMessageRow(database.sql, {
      original_topic: topic,
      consumer_group: 'billing',
      dlq_topic: dlqTopic,
    })
    await database.sql`
      insert into dlq.dlq_attempts ${database.sql({
        ...{ message_id: id, number: 1, attempt_id: crypto.randomUUID(), outcome: 'published', run_id: runId },
        ...{
          target_topic: topic,
          target_partition: 0,
          target_offset: this.sent.length,
          settled_at: new Date(this.now),
        },
      })}`
    this.sent.push(id)
  }

  handle(failsAfterMs: number | null): void {
    if (this.committed === this.sent.length) return
    if (failsAfterMs !== null) this.letters.set(this.committed, this.now + failsAfterMs)
    this.committed += 1
  }

  async lookAtDlq(): Promise<void> {
    const at = new Date(this.now)
    await database.sql`
      insert into dlq.dlq_topics (cluster, topic, partitions, looked_at) values ('c', ${dlqTopic}, 1, ${at})
      on conflict (cluster, topic) do update set looked_at = excluded.looked_at`
    await database.sql`
      insert into dlq.dlq_topic_partitions (cluster, topic, partition, log_start_offset, log_end_offset)
      values ('c', ${dlqTopic}, 0, 0, ${this.written().length})
      on conflict (cluster, topic, partition) do update set log_end_offset = excluded.log_end_offset`
  }

  async ingest(): Promise<void> {
    const written = this.written()
    for (const offset of written.slice(this.stored))
      await database.sql`
        update dlq.dlq_attempts set failed_again_at = ${new Date(this.now)} where message_id = ${this.sent[offset]!}`
    this.stored = written.length
    await database.sql`
      insert into dlq.dlq_positions (cluster, topic, partition, next_offset) values ('c', ${dlqTopic}, 0, ${this.stored})
      on conflict (cluster, topic, partition) do update set next_offset = excluded.next_offset`
  }

  async look(): Promise<void> {
    const before = (await listReaders(service.sql, [topic])).find((known) => keyOf(known) === keyOf(reader))
    const stored = await listStoredUntil(service.sql, { topics: [topic], lookMs })
    const bounds = { log_start_offset: 0n, log_end_offset: BigInt(this.sent.length) }
    const committed_offset = this.committed === 0 ? null : BigInt(this.committed)
    const judged = judgePartition(before?.partitions[0] ?? null, {
      ...{ ...bounds, committed_offset, wasEmptyTwice: false, nowMs: this.now },
      ...{ storedUntilMs: stored.get(topic) ?? null, horizonMs },
    })
    await recordReaders(service.sql, {
      began_at: new Date(this.now).toISOString(),
      readers: [
        {
          ...{ ...reader, type: 'classic', state: 'Stable', members: 1, has_commits: true, horizonMs, rates: noRates },
          partitions: [{ ...reader, partition: 0, committed_offset, ...bounds, ...judged }],
        },
      ],
    })
  }

  async verdicts(): Promise<string[]> {
    const rows = await database.sql`
      select v.verdict from dlq.dlq_attempts a
      cross join lateral dlq.verdict(
        'billing', a.target_topic, a.target_partition, a.target_offset, a.settled_at, a.failed_again_at) v
      order by a.target_offset`
    return rows.map(({ verdict }) => verdict)
  }
}

test('what comes back within the horizon was never consumed, and the counts of its run are those of a recount', async () => {
  let consumed = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
      await emptyTables(database.sql, 'dlq.dlq_readers', 'dlq.dlq_reader_partitions', 'dlq.dlq_attempts')
      await emptyTables(
        database.sql,
        'dlq.dlq_messages',
        'dlq.dlq_topics',
        'dlq.dlq_topic_partitions',
        'dlq.dlq_positions',
      )
      const world = new World()
      for (const each of [...steps, ...quietEnd]) {
        if (each.do === 'send') await world.send()
        if (each.do === 'handle') world.handle(each.failsAfterMs)
        if (each.do === 'wait') world.now += each.ms
        if (each.do === 'look at DLQ') await world.lookAtDlq()
        if (each.do === 'ingest') await world.ingest()
        if (each.do === 'look around') {
          await world.look()
          world.now += each.ms
          await world.lookAtDlq()
        }
        if (each.do !== 'look' && each.do !== 'look around') continue
        await world.look()
        const verdicts = await world.verdicts()
        for (const offset of world.letters.keys()) expect(verdicts[offset]).not.toBe('consumed')
        for (const [offset, verdict] of verdicts.entries())
          if (offset >= world.committed) expect(verdict).not.toBe('passed')
        const counts = await countRunVerdicts(service.sql, runId)
        for (const [verdict, count] of Object.entries(counts))
          expect(verdicts.filter((one) => one === verdict)).toHaveLength(count)
        consumed += counts.consumed
      }
    }),
    { numRuns: process.env.DLQ_SOAK === '1' ? 2000 : 60 },
  )
  // Otherwise nothing was tried.
  expect(consumed).toBeGreaterThan(0)
})
