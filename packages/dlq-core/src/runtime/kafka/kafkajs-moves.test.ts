// Coordinators and leaders that move (patches/README.md, 0020, 0021, 0024 and 0027 to 0029). The cluster pretends.
import { EventEmitter } from 'node:events'
import { createRequire } from 'node:module'
import { expect, test } from 'vitest'

const require = createRequire(import.meta.url)
const createEosManager = require('kafkajs/src/producer/eosManager')
const ConsumerGroup = require('kafkajs/src/consumer/consumerGroup')
const Runner = require('kafkajs/src/consumer/runner')
const { KafkaJSConnectionClosedError, KafkaJSRequestTimeoutError } = require('kafkajs/src/errors')
const { createErrorFromCode }: { createErrorFromCode: (code: number) => Error } = require('kafkajs/src/protocol/error')

const codes = { COORDINATOR_LOAD_IN_PROGRESS: 14, COORDINATOR_NOT_AVAILABLE: 15, NOT_COORDINATOR: 16, NOT_LEADER: 6 }
const quiet = { debug() {}, info() {}, warn() {}, error() {}, namespace: () => quiet }

/** An initialised manager of transactions; `commit` answers its offsets. */
async function createTransaction(
  commit: () => Promise<void>,
  end: () => Promise<void> = async () => {},
  add: () => Promise<void> = async () => {},
) {
  let searches = 0
  const broker = {
    initProducerId: async () => ({ producerId: '7', producerEpoch: 0 }),
    addOffsetsToTxn: async () => {},
    addPartitionsToTxn: add,
    txnOffsetCommit: commit,
    endTxn: end,
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

test.each(Object.entries(codes).slice(0, 3))(
  'a transaction is ended by the next coordinator after %s',
  async (_, code) => {
    let tries = 0
    const end = async () => {
      tries += 1
      if (tries < 3) throw createErrorFromCode(code)
    }
    const { manager } = await createTransaction(async () => {}, end)
    await manager.sendOffsets(offsets)
    await manager.commit()
    expect(tries).toBe(3)
    expect(manager.isInTransaction()).toBe(false)
  },
)

test.each([
  ['CONCURRENT_TRANSACTIONS', 51, 6],
  ['NOT_COORDINATOR', 16, 1],
])(
  'partitions are added to a transaction after short waits only while the one before is ended (%s)',
  async (_, code, expectedTries) => {
    let tries = 0
    const add = async () => {
      tries += 1
      if (tries < 6) throw createErrorFromCode(code)
    }
    const { manager } = await createTransaction(async () => {}, undefined, add)
    const adding = manager.addPartitionsToTransaction([{ topic: 'orders', partitions: [{ partition: 0 }] }])
    if (expectedTries > 1) await adding
    else await expect(adding).rejects.toMatchObject({ code })
    expect(tries).toBe(expectedTries)
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

type Asked = { who: string; memberId: string }

/** A member whose first coordinator answers with the error; the next one is well. */
function createMember(error: Error) {
  const asked: Asked[] = []
  const createCoordinator = (who: string, answer: () => Promise<void>) => ({
    isConnected: () => true,
    heartbeat: ({ memberId }: { memberId: string }) => {
      asked.push({ who, memberId })
      return answer()
    },
  })
  const cluster = {
    refreshMetadata: async () => void asked.push({ who: 'metadata', memberId: '' }),
    findGroupCoordinator: async () => createCoordinator('next', async () => {}),
  }
  const group = new ConsumerGroup({
    ...{ cluster, logger: quiet, instrumentationEmitter: new EventEmitter(), groupId: 'g', topics: ['orders'] },
    ...{ assigners: [], retry: { retries: 0 } },
  })
  const first = createCoordinator('first', () => Promise.reject(error))
  Object.assign(group, { coordinator: first, memberId: 'member-1', generationId: 1, lastRequest: 0 })
  return { group, asked, first }
}

const lost: [string, Error][] = [
  ...Object.entries(codes)
    .slice(0, 3)
    .map(([name, code]): [string, Error] => [name, createErrorFromCode(code)]),
  ['a closed connection', new KafkaJSConnectionClosedError('Closed connection', { host: 'broker', port: 9092 })],
  ['no answer', new KafkaJSRequestTimeoutError('Request timed out')],
]

test.each(lost)('a member whose coordinator is lost (%s) finds the next one, and stays who it is', async (_, error) => {
  const { group, asked } = createMember(error)
  await group.heartbeat({ interval: 1 })
  await expect.poll(() => group.isFindingCoordinator).toBe(false)
  await group.heartbeat({ interval: 1 })
  expect(asked).toEqual([
    { who: 'first', memberId: 'member-1' },
    { who: 'next', memberId: 'member-1' },
  ])
})

test.each(lost)('offsets that the lost coordinator did not take (%s) go to the next one', async (_, error) => {
  const { group } = createMember(error)
  group.offsetManager = { commitOffsets: () => Promise.reject(error) }
  await expect(group.commitOffsets()).rejects.toMatchObject({ name: 'KafkaJSCoordinatorLost', cause: error })
  await group.findCoordinator()
  expect(group.offsetManager.coordinator).toBe(group.coordinator)
})

test('other errors of a coordinator reach the consumer as they are', async () => {
  const evicted = createErrorFromCode(25)
  const { group } = createMember(evicted)
  await expect(group.heartbeat({ interval: 1000 })).rejects.toBe(evicted)
})

test('a coordinator that does not answer holds up no fetch for longer than one interval', async () => {
  const { group, first } = createMember(new Error())
  first.heartbeat = () => new Promise(() => {})
  const before = performance.now()
  await group.heartbeat({ interval: 50 })
  expect(performance.now() - before).toBeLessThan(5000)
})

test('a consumer whose coordinator is lost again and again does not crash', async () => {
  let fetches = 0
  let searches = 0
  const findCoordinator = async () => {
    searches += 1
  }
  const crashes: Error[] = []
  const { group } = createMember(new Error())
  const fetch = async () => {
    fetches += 1
    if (fetches < 9) await group.askCoordinator(() => Promise.reject(lost[3]![1]))
    await new Promise((resolve) => setTimeout(resolve, 1))
    return []
  }
  const runner = new Runner({
    consumerGroup: {
      ...{ connect: async () => {}, joinAndSync: async () => {}, leave: async () => {}, heartbeat: async () => {} },
      ...{ getNodeIds: () => ['1'], fetch, findCoordinator },
    },
    ...{ logger: quiet, instrumentationEmitter: new EventEmitter(), concurrency: 1, retry: { retries: 0 } },
    ...{ heartbeatInterval: 1, onCrash: (error: Error) => void crashes.push(error) },
  })
  await runner.start()
  await expect.poll(() => fetches).toBeGreaterThan(20)
  await runner.stop()
  expect(crashes).toEqual([])
  expect(searches).toBe(8)
})

test.each(lost.slice(3))(
  'a member that cannot reach a partition’s leader (%s) asks who leads it now',
  async (_, error) => {
    const { group, asked } = createMember(new Error())
    await group.recoverFromFetch(error)
    expect(asked).toEqual([{ who: 'metadata', memberId: '' }])
  },
)

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
