// What a running consumer reads of a real broker; nothing is stored.
import { setTimeout as sleep } from 'node:timers/promises'
import { noteIngester } from 'dlq-core/queries/ingest/ingesters.ts'
import { pauseTopic, resumeTopic } from 'dlq-core/queries/retry/topic-pauses.ts'
import { createDecodePools } from 'dlq-core/runtime/fetching/decode-budget.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { useTopics } from 'dlq-testing/kafka/test-topics.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { expect, test } from 'vitest'
import type { Batch, StoreOutcome } from '../store/store-batch.ts'
import { type ConsumeDeps, consumeTopics } from './consume-topics.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const other = useServiceDatabase(useDatabase())
const topics = useTopics()

const stored: StoreOutcome & { kind: 'stored' } = {
  ...{ kind: 'stored', stored: 1, reopened: 0, dropped: 0, reduced: 0, early: 0, bytes: 1 },
  messages: [],
}

async function send(topic: string, ...values: string[]): Promise<void> {
  const producer = topics.kafka.producer({ allowAutoTopicCreation: false })
  await producer.connect()
  await producer.send({ topic, messages: values.map((value) => ({ value, partition: 0 })) })
  await producer.disconnect()
}

/** A record to each partition. */
async function sendToEach(names: readonly string[], partitions: number): Promise<void> {
  const producer = topics.kafka.producer({ allowAutoTopicCreation: false })
  await producer.connect()
  const messages = Array.from({ length: partitions }, (_, partition) => ({ value: 'one', partition }))
  await producer.sendBatch({ topicMessages: names.map((topic) => ({ topic, messages })) })
  await producer.disconnect()
}

/** Consumes within `work`. Returns what it was given to store. */
async function consuming(
  names: readonly string[],
  work: (consuming: { batches: Batch[]; fetches: () => number; joins: () => number }) => Promise<void>,
  more: Partial<ConsumeDeps> = {},
): Promise<void> {
  const ended = new AbortController()
  const batches: Batch[] = []
  let fetches = 0
  let joins = 0
  const { clusterId } = await topics.admin.describeCluster()
  const consumed = consumeTopics({
    kafka: topics.kafka,
    reader: topics.reader,
    sql: service.sql,
    log: createLog({ service: 'test', level: 'silent' }),
    cluster: clusterId,
    groupId: topics.groupName('consume'),
    ingesterId: 'test-ingester',
    topics: names,
    pool: createDecodePools({ maxValueBytes: 1000 }).fetches,
    maxValueBytes: 1000,
    signal: ended.signal,
    store: async (batch) => {
      batches.push(batch)
      return stored
    },
    onFault() {},
    onFetched: () => void fetches++,
    onCrash() {},
    onAssigned: () => void joins++,
    onCannotRead() {},
    onRecreated: async () => {},
    onAnotherLeader: async () => null,
    onStored() {},
    onBehind() {},
    onLost() {},
    ...more,
  })
  try {
    await Promise.race([work({ batches, fetches: () => fetches, joins: () => joins }), consumed])
  } finally {
    ended.abort()
    await consumed
  }
}

const pause = (topic: string) =>
  pauseTopic(service.sql, { topic, what: 'ingestion', by: 'ann', reason: 'a flood', until: null })

test('a paused topic is not read, also by a consumer that begins, or begins again after a crash', async () => {
  const [paused, other] = [await topics.createTopic('paused'), await topics.createTopic('other')]
  await send(paused, 'waits')
  await pause(paused)
  let isFaulty = true
  await consuming(
    [paused, other],
    async ({ batches, fetches, joins }) => {
      await expect.poll(joins, { timeout: 20_000 }).toBe(1)
      await send(other, 'fails')
      await expect.poll(joins, { timeout: 20_000 }).toBe(2)
      isFaulty = false
      const before = fetches()
      await sleep(2000)
      // One that finds nothing waits for half a second.
      expect(fetches() - before).toBeLessThan(20)
      expect(batches.map(({ topic }) => topic)).not.toContain(paused)

      await resumeTopic(service.sql, { topic: paused, what: 'ingestion' })
      await expect.poll(() => batches.map(({ topic }) => topic), { timeout: 20_000 }).toContain(paused)
    },
    {
      onStored: () => {
        if (isFaulty) throw new Error('the consumer crashes')
      },
    },
  )
})

test('a consumer that expects another cluster reads nothing, and ends', async () => {
  const topic = await topics.createTopic('strange')
  await send(topic, 'of another cluster')
  const reading = consuming(
    [topic],
    async ({ batches }) => {
      await sleep(2000)
      expect(batches).toEqual([])
    },
    { cluster: 'another' },
  )
  await expect(reading).rejects.toThrow(/^Another cluster answers: \S+, where another is expected$/)
})

test('members of one group that read other topics leave none of them unread', async () => {
  const [ours, theirs, both] = await Promise.all(
    ['ours', 'theirs', 'both'].map((name) => topics.createTopic(name, { partitions: 4 })),
  )
  const more = { groupId: topics.groupName('shared') }
  const read = ({ batches }: { batches: Batch[] }) => [
    ...new Set(batches.map(({ topic, partition }) => `${topic} ${partition}`)),
  ]
  const all = (...names: string[]) => names.flatMap((name) => [0, 1, 2, 3].map((partition) => `${name} ${partition}`))
  await consuming(
    [ours!, both!],
    async (first) => {
      await consuming(
        [theirs!, both!],
        async (second) => {
          // The one that joins later takes partitions over, and reads them again: nothing is stored here.
          await expect.poll(() => Math.min(first.joins(), second.joins()), { timeout: 20_000 }).toBeGreaterThan(0)
          await sendToEach([ours!, theirs!, both!], 4)
          await expect
            .poll(() => [...new Set([...read(first), ...read(second)])].toSorted(), { timeout: 20_000 })
            .toEqual(all(both!, ours!, theirs!).toSorted())
          expect(read(first)).toEqual(expect.arrayContaining(all(ours!)))
          expect(read(second)).toEqual(expect.arrayContaining(all(theirs!)))
        },
        more,
      )
    },
    more,
  )
})

test('an ingester of another database gets nothing of what this one reads, and says why', async () => {
  const topic = await topics.createTopic('ours', { partitions: 4 })
  const groupId = topics.groupName('shared')
  const stranger = { groupId, ingesterId: 'stranger' }
  await noteIngester(service.sql, { id: 'ours', cluster: null, assignment: [], fault: null })
  let why = ''
  await consuming(
    [topic],
    async (ours) => {
      await expect.poll(ours.joins, { timeout: 20_000 }).toBeGreaterThan(0)
      const work = async (theirs: { batches: Batch[] }) => {
        await expect
          .poll(() => why, { timeout: 20_000 })
          .toMatch(/^another deployment reads in the consumer group \S+, from /)
        await sendToEach([topic], 4)
        await expect.poll(() => ours.batches.length, { timeout: 20_000 }).toBe(4)
        expect(theirs.batches).toEqual([])
      }
      const { sql } = other
      await noteIngester(sql, { id: 'stranger', cluster: null, assignment: [], fault: null })
      await consuming([topic], work, {
        ...stranger,
        sql,
        onCannotRead: (reason) => {
          why = reason
        },
      })
    },
    { groupId, ingesterId: 'ours' },
  )
})
