// What a look costs Kafka where there is much to look at: 200 topics that messages were sent to, and 100 groups. The number
// of requests follows the groups, and not the messages. The soak prints the figures of infra/docs/verdicts.md.

import { Socket } from 'node:net'
import { defaultRetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import { createGroupReader } from 'dlq-core/runtime/kafka/groups/group-reader.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { createTopics } from 'dlq-testing/kafka/create-topics.ts'
import { useTopics } from 'dlq-testing/kafka/test-topics.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { Registry } from 'prom-client'
import { expect, onTestFinished, test } from 'vitest'
import { createReaderWatch } from './reader-watch.ts'
import { createVerdictMetrics } from './verdict-counter.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const topics = useTopics()
const counts = { topics: 200, groups: 100 }
const atOnce = 10

/** Requests written to the broker's port until it is stopped; kafkajs writes each one at once. */
function countRequests(port: number) {
  const { write } = Socket.prototype
  let requests = 0
  Socket.prototype.write = function (this: Socket, ...args: unknown[]) {
    if (this.remotePort === port) requests += 1
    return Reflect.apply(write, this, args)
  } as Socket['write']
  onTestFinished(() => {
    Socket.prototype.write = write
  })
  return {
    take() {
      const taken = requests
      requests = 0
      return taken
    },
  }
}

async function inTurns<T>(items: readonly T[], each: (item: T) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < items.length; at += atOnce) await Promise.all(items.slice(at, at + atOnce).map(each))
}

test('a look at 200 topics and 100 groups asks as often with 100,000 attempts as with 200', async () => {
  const names = Array.from({ length: counts.topics }, () => topics.topicName('orders'))
  await createTopics(
    topics.admin,
    names.map((topic) => ({ topic, numPartitions: 1 })),
  )
  const groupIds = Array.from({ length: counts.groups }, () => topics.groupName('billing'))
  // Each group has committed offsets on two topics.
  await inTurns([...groupIds.entries()], async ([n, groupId]) => {
    for (const topic of [names[2 * n]!, names[2 * n + 1]!])
      await topics.admin.setOffsets({ groupId, topic, partitions: [{ partition: 0, offset: '0' }] })
  })
  const attempt = (from: number, to: number) => database.sql`
      insert into dlq.dlq_attempts (message_id, number, attempt_id, outcome, target_topic, target_partition, target_offset, settled_at)
      select gen_random_uuid(), 1, gen_random_uuid(), 'published', (${names}::text[])[1 + n % ${counts.topics}::int], 0, n, now()
      from generate_series(${from}::int, ${to}::int) n`
  await attempt(1, counts.topics)

  const groups = createGroupReader(topics.kafka)
  onTestFinished(() => groups.disconnect())
  const pass = createReaderWatch({
    ...{ admin: topics.admin, reader: topics.reader, groups, sql: service.sql, ownGroup: 'dlq-manager.test' },
    ...{
      everyMs: 60_000,
      horizonMs: 150_000,
      archiveRetentionMs: 0,
      now: Date.now,
      log: createLog({ service: 'test', level: 'silent' }),
    },
    policies: { load: async () => {}, policyOf: () => defaultRetryPolicy },
    metrics: createVerdictMetrics(new Registry()),
  })
  const counted = countRequests(Number(topics.brokers[0]!.split(':')[1]))
  const look = async () => {
    await database.sql`update dlq.dlq_reader_watch set look_due_at = now()`
    counted.take()
    const begun = performance.now()
    await pass()
    return { requests: counted.take(), ms: Math.round(performance.now() - begun) }
  }
  const known = async () => (await database.sql<{ n: number }[]>`select count(*)::int as n from dlq.dlq_readers`)[0]!.n
  // Strangers are met fifty at a look.
  for (let looks = 0; (await known()) < 2 * counts.groups; looks += 1) {
    expect(looks).toBeLessThan(100)
    await look()
  }
  const few = await look()
  await attempt(counts.topics + 1, 100_000)
  const many = await look()
  console.info(`a look at ${counts.topics} topics and ${counts.groups} groups:`, { few, many })
  // Fifty strangers more or less, in turn; other tests may have groups on the broker.
  expect(Math.abs(many.requests - few.requests)).toBeLessThanOrEqual(4 * 50)
  expect(many.requests).toBeLessThan(4 * (counts.groups + 50) + 20)
}, 600_000)
