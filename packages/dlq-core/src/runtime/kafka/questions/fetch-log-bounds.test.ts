// Leaders that move while log bounds are asked. The cluster pretends.
import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import type { Cluster } from '../kafkajs-internals.ts'
import { fetchLogBounds } from './fetch-log-bounds.ts'

const require = createRequire(import.meta.url)
const createRetry = require('kafkajs/src/retry')
const { createErrorFromCode }: { createErrorFromCode: (code: number) => Error } = require('kafkajs/src/protocol/error')
const { KafkaJSConnectionError } = require('kafkajs/src/errors')
const [unknownTopic, leaderNotAvailable, notLeader] = [3, 5, 6].map(createErrorFromCode)

/** A cluster of one broker that answers the first requests for metadata with the errors. */
function createCluster(errors: readonly (Error | undefined)[]): { cluster: Cluster; asked: () => number } {
  let asked = 0
  const broker = {
    versions: null,
    metadata: async () => {
      asked += 1
      const error = errors[asked - 1]
      if (error) throw error
      return { topicMetadata: [{ topic: 'orders', partitionMetadata: [{ partitionId: 0, leader: 1 }] }] }
    },
    listOffsets: async () => ({ responses: [{ topic: 'orders', partitions: [{ partition: 0, offset: '7' }] }] }),
    fetch: () => Promise.reject(new Error('nothing is fetched')),
  }
  const cluster = {
    connect: async () => {},
    disconnect: async () => {},
    getNodeIds: () => ['1'],
    findBroker: async () => broker,
    findGroupCoordinator: async () => broker,
    refreshMetadata: async () => {},
    brokerPool: { findConnectedBroker: async () => broker },
    retrier: createRetry({ retries: 3, initialRetryTime: 1 }),
  }
  return { cluster, asked: () => asked }
}

test.each([
  ['is not known yet', leaderNotAvailable],
  ['has moved', notLeader],
  ['cannot be reached', new KafkaJSConnectionError('refused', { broker: 'broker:9092' })],
])('bounds are asked again where a partition’s leader %s', async (_, error) => {
  const { cluster, asked } = createCluster([error, error])
  expect(await fetchLogBounds(cluster, ['orders'])).toEqual([
    { topic: 'orders', partition: 0, log_start_offset: 7n, log_end_offset: 7n },
  ])
  expect(asked()).toBe(3)
})

test('a topic that is gone is not asked for again', async () => {
  const { cluster, asked } = createCluster([unknownTopic, unknownTopic])
  await expect(fetchLogBounds(cluster, ['orders'])).rejects.toMatchObject({ type: 'UNKNOWN_TOPIC_OR_PARTITION' })
  expect(asked()).toBe(1)
})
