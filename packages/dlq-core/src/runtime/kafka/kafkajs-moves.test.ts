// Coordinators and leaders that move (patches/README.md, 0020, 0021 and 0024). The cluster pretends.
import { EventEmitter } from 'node:events'
import { createRequire } from 'node:module'
import { expect, test } from 'vitest'

const require = createRequire(import.meta.url)
const createEosManager = require('kafkajs/src/producer/eosManager')
const ConsumerGroup = require('kafkajs/src/consumer/consumerGroup')
const { createErrorFromCode }: { createErrorFromCode: (code: number) => Error } = require('kafkajs/src/protocol/error')

const codes = { COORDINATOR_LOAD_IN_PROGRESS: 14, COORDINATOR_NOT_AVAILABLE: 15, NOT_COORDINATOR: 16, NOT_LEADER: 6 }
const quiet = { debug() {}, info() {}, warn() {}, error() {}, namespace: () => quiet }

/** An initialised manager of transactions; `commit` answers its offsets. */
async function createTransaction(commit: () => Promise<void>) {
  let searches = 0
  const broker = {
    initProducerId: async () => ({ producerId: '7', producerEpoch: 0 }),
    addOffsetsToTxn: async () => {},
    txnOffsetCommit: commit,
  }
  const cluster = {
    refreshMetadataIfNecessary: async () => {},
    findGroupCoordinator: async () => {
      searches += 1
      return broker
    },
    findControllerBroker: async () => broker,
    retry: { initialRetryTime: 1, retries: 5 },
  }
  const options = { cluster, logger: quiet, transactional: true, transactionalId: 'slot-1' }
  const manager = createEosManager(options)
  await manager.initProducerId()
  manager.beginTransaction()
  return { manager, searches: () => searches }
}

const offsets = {
  consumerGroupId: 'ledger',
  topics: [{ topic: 'ledger', partitions: [{ partition: 0, offset: '1' }] }],
}

test.each(Object.entries(codes).slice(0, 3))(
  'the offsets of a transaction are sent again after %s',
  async (_, code) => {
    let tries = 0
    const { manager, searches } = await createTransaction(async () => {
      tries += 1
      if (tries < 3) throw createErrorFromCode(code)
    })
    const before = searches()
    await manager.sendOffsets(offsets)
    expect(tries).toBe(3)
    // Its own two look-ups, and one for each sign that the coordinator has moved.
    expect(searches() - before).toBe(code === codes.COORDINATOR_LOAD_IN_PROGRESS ? 2 : 4)
  },
)

test('sequences go on from 0 after 2^31 - 1, within a batch too', async () => {
  const { manager } = await createTransaction(async () => {})
  const take = (count: number) => manager.updateSequence('orders', 0, count)
  const sequence = () => manager.getSequence('orders', 0)
  take(2 ** 31 - 3)
  expect(sequence()).toBe(2 ** 31 - 3)
  take(2)
  expect(sequence()).toBe(2 ** 31 - 1)
  take(10)
  expect(sequence()).toBe(9)
})

test('a member that meets a partition’s former leader asks for the new one, and does not join its group again', async () => {
  const asked: string[] = []
  const cluster = {
    refreshMetadata: async () => void asked.push('metadata'),
    findGroupCoordinator: async () => void asked.push('coordinator'),
  }
  const group = new ConsumerGroup({
    ...{ cluster, logger: quiet, instrumentationEmitter: new EventEmitter(), groupId: 'g', topics: ['orders'] },
    ...{ assigners: [], retry: { retries: 0 } },
  })
  await group.recoverFromFetch(createErrorFromCode(codes.NOT_LEADER))
  expect(asked).toEqual(['metadata'])
})
