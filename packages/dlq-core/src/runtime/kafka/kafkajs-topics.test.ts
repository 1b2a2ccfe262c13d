// A member of a group that reads thousands of topics (patches/README.md, 0049). The cluster pretends.
import { EventEmitter } from 'node:events'
import { createRequire } from 'node:module'
import { expect, test } from 'vitest'

const require = createRequire(import.meta.url)
const Cluster = require('kafkajs/src/cluster')
const ConsumerGroup = require('kafkajs/src/consumer/consumerGroup')
const { MemberAssignment } = require('kafkajs/src/consumer/assignerProtocol')

const quiet = { debug() {}, info() {}, warn() {}, error() {}, namespace: () => quiet }
const partitions = [0, 1, 2]
const withRecord = { topic: 'orders-77.dlq', partition: 1, offset: '5' }

type Topic = { topic: string; partitions: { partition: number }[] }

/** A member of a group whose one broker has the topics, and one record. `fetch` fetches from it. */
function createMember(topics: readonly string[]) {
  const cluster = new Cluster({
    brokers: ['127.0.0.1:1'],
    logger: quiet,
    metadataMaxAge: 60_000,
    retry: { retries: 0 },
  })
  const partitionMetadata = partitions.map((partitionId) => ({ partitionId, leader: 1, replicas: [1], isr: [1] }))
  const pool = cluster.brokerPool
  pool.metadata = { brokers: [], topicMetadata: topics.map((topic) => ({ topic, partitionMetadata })) }
  pool.metadataExpireAt = Number.POSITIVE_INFINITY
  const ofTopic = (topic: string, offset: string) => ({
    topic,
    partitions: partitions.map((partition) => ({ partition, offset })),
  })
  const coordinator = {
    isConnected: () => true,
    joinGroup: async () => ({ generationId: 1, leaderId: 'other', memberId: 'm', members: [], groupProtocol: 'test' }),
    syncGroup: async () => ({
      memberAssignment: MemberAssignment.encode({
        ...{ version: 1, userData: Buffer.alloc(0) },
        assignment: Object.fromEntries(topics.map((topic) => [topic, partitions])),
      }),
    }),
    offsetFetch: async () => ({ responses: topics.map((topic) => ofTopic(topic, '5')) }),
  }
  const answerTo = ({ topic, partitions: asked }: Topic) => ({
    topicName: topic,
    partitions: asked.map(({ partition }) => {
      const has = topic === withRecord.topic && partition === withRecord.partition
      return { partition, highWatermark: '6', abortedTransactions: [], messages: has ? [{ offset: '5' }] : [] }
    }),
  })
  const broker = {
    connectionPool: { fetchThrottledFor: () => 0 },
    fetch: async ({ topics: asked }: { topics: Topic[] }) => ({
      responses: asked.map(answerTo),
      answer: Buffer.alloc(0),
    }),
  }
  Object.assign(cluster, {
    ...{ addTargetTopic: async () => {}, refreshMetadata: async () => {}, findBroker: async () => broker },
    findGroupCoordinator: async () => coordinator,
  })
  const group = new ConsumerGroup({
    ...{ cluster, logger: quiet, instrumentationEmitter: new EventEmitter(), groupId: 'g', topics: [...topics] },
    ...{ topicConfigurations: {}, retry: { retries: 0 }, autoCommit: false, maxWaitTime: 0 },
    assigners: [{ name: 'test', version: 1, protocol: () => ({ name: 'test', metadata: Buffer.alloc(0) }) }],
  })
  return { group, fetch: () => group.fetch('1') }
}

const timed = async <T>(work: () => Promise<T>) => {
  const since = performance.now()
  return { result: await work(), ms: performance.now() - since }
}

test('a member of ten thousand topics joins and fetches within a session, and only what has records is a batch', async () => {
  const { group, fetch } = createMember(Array.from({ length: 10_000 }, (_, n) => `orders-${n}.dlq`))
  const joined = await timed(() => group.joinAndSync())
  // Copies and searches for each topic took forty seconds.
  expect(joined.ms).toBeLessThan(3000)
  expect(group.assigned()).toHaveLength(10_000)
  const fetched = await timed(fetch)
  expect(fetched.ms).toBeLessThan(3000)
  expect(fetched.result).toMatchObject([
    { topic: withRecord.topic, partition: withRecord.partition, fetchedOffset: '5' },
  ])
})

test('metadata that is newer is what topics are found in', async () => {
  const { group } = createMember(['a', 'b'])
  const { cluster } = group
  expect(cluster.findTopicPartitionMetadata('a')).toHaveLength(3)
  expect(cluster.findTopicPartitionMetadata('c')).toEqual([])
  const partitionMetadata = [{ partitionId: 0, leader: 1, replicas: [1], isr: [1] }]
  cluster.brokerPool.metadata = { brokers: [], topicMetadata: [{ topic: 'c', partitionMetadata }] }
  expect(cluster.findTopicPartitionMetadata('c')).toHaveLength(1)
  expect(cluster.findTopicPartitionMetadata('a')).toEqual([])
})
