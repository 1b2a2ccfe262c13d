// How kafkajs's producer sends a batch to several brokers (patches/README.md, 0019). The brokers here pretend: they
// know producers and sequences as Apache Kafka does, and each request meets the fate that a test gives it.
import { createRequire } from 'node:module'
import fc from 'fast-check'
import type { Message, Producer, RecordMetadata } from 'kafkajs'
import { describe, expect, test } from 'vitest'

const require = createRequire(import.meta.url)
const createProducer: (options: object) => Producer = require('kafkajs/src/producer')
const { KafkaJSConnectionClosedError } = require('kafkajs/src/errors')
const {
  parse,
}: { parse: (response: object) => Promise<object> } = require('kafkajs/src/protocol/requests/produce/v7/response')

const topic = 'orders'
const codes = {
  UNKNOWN_TOPIC_OR_PARTITION: 3,
  NOT_LEADER: 6,
  TIMED_OUT: 7,
  TOO_LARGE: 10,
  TOO_FEW_REPLICAS: 19,
} as const
const outOfOrder = 45
const fencedEpoch = 47
const tooFewAfterAppend = 20

/** What becomes of one partition of one request, or with the connection of all of them. */
type Fate = 'ok' | 'lose-request' | 'lose-answer' | 'late' | keyof typeof codes | 'TOO_FEW_AFTER_APPEND'

type SentPartition = { partition: number; firstSequence: number; messages: Message[] }
type ProduceRequest = {
  producerId: string
  producerEpoch: number
  topicData: { topic: string; partitions: SentPartition[] }[]
}

/** One partition's log. It takes a batch as the broker does that leads it. */
function createLog() {
  const values: string[] = []
  let last = { producer: '', epoch: -1, first: 0, next: 0, baseOffset: 0 }
  return {
    values,
    append({ producerId: producer, producerEpoch: epoch }: ProduceRequest, { firstSequence, messages }: SentPartition) {
      if (producer === last.producer && epoch < last.epoch) return { errorCode: fencedEpoch, baseOffset: '-1' }
      const isSame = producer === last.producer && epoch === last.epoch
      if (isSame && firstSequence === last.first && firstSequence + messages.length === last.next)
        return { errorCode: 0, baseOffset: String(last.baseOffset) }
      if (firstSequence !== (isSame ? last.next : 0)) return { errorCode: outOfOrder, baseOffset: '-1' }
      const baseOffset = values.length
      last = { producer, epoch, first: firstSequence, next: firstSequence + messages.length, baseOffset }
      values.push(...messages.map(({ value }) => String(value)))
      return { errorCode: 0, baseOffset: String(baseOffset) }
    },
  }
}

const isLost = (fate: Fate) => fate === 'lose-request' || fate === 'lose-answer'

/** `fateOf` is asked for each partition of each request; `leaderOf` says who leads a partition now. */
function createPretendedCluster({
  partitions,
  leaderOf = (partition) => partition,
  fateOf = () => 'ok',
}: {
  partitions: number
  leaderOf?: (partition: number) => number
  fateOf?: (place: { broker: number; partition: number; nth: number }) => Fate
}) {
  const logs = Array.from({ length: partitions }, createLog)
  const tries = logs.map(() => 0)
  const added: number[][] = []
  let producers = 0
  let epoch = -1

  async function produce(nodeId: number, request: ProduceRequest) {
    const sent = request.topicData.flatMap((data) => data.partitions)
    for (const { partition } of sent) tries[partition]! += 1
    const fates = sent.map(({ partition }) => fateOf({ broker: nodeId, partition, nth: tries[partition]! }))
    const closed = new KafkaJSConnectionClosedError('Closed connection', { host: 'broker', port: nodeId })
    if (fates.includes('lose-request')) throw closed
    const answers = sent.map((part, at) => {
      const fate = fates[at]!
      const { partition } = part
      if (leaderOf(partition) !== nodeId) return { partition, errorCode: codes.NOT_LEADER, baseOffset: '-1' }
      if (fate in codes) return { partition, errorCode: codes[fate as keyof typeof codes], baseOffset: '-1' }
      const appended = logs[partition]!.append(request, part)
      if (fate === 'TOO_FEW_AFTER_APPEND') return { partition, errorCode: tooFewAfterAppend, baseOffset: '-1' }
      return { partition, ...appended }
    })
    if (fates.some(isLost)) throw closed
    if (fates.includes('late')) await new Promise((resolve) => setTimeout(resolve, 20))
    return parse({ topics: [{ topicName: topic, partitions: answers }] })
  }

  const createBroker = (nodeId: number) => ({
    nodeId,
    produce: (request: ProduceRequest) => produce(nodeId, request),
    initProducerId: async ({ transactionalId }: { transactionalId?: string }) => {
      epoch += 1
      return transactionalId
        ? { producerId: 'p', producerEpoch: epoch }
        : { producerId: `p${producers++}`, producerEpoch: 0 }
    },
    addPartitionsToTxn: async ({ topics }: { topics: { partitions: number[] }[] }) =>
      void added.push(topics.flatMap((of) => of.partitions)),
    endTxn: async () => {},
  })

  const brokers = new Map<number, ReturnType<typeof createBroker>>()
  const findBroker = (nodeId: number) => {
    if (!brokers.has(nodeId)) brokers.set(nodeId, createBroker(nodeId))
    return brokers.get(nodeId)!
  }
  const cluster = {
    targetTopics: new Set([topic]),
    connect: async () => {},
    disconnect: async () => {},
    isConnected: () => true,
    addMultipleTargetTopics: async () => {},
    refreshMetadata: async () => {},
    refreshMetadataIfNecessary: async () => {},
    removeBroker: ({ port }: { port: number }) => void brokers.delete(port),
    findBroker: async ({ nodeId }: { nodeId: string }) => findBroker(Number(nodeId)),
    findControllerBroker: async () => findBroker(0),
    findGroupCoordinator: async () => findBroker(0),
    findTopicPartitionMetadata: () => logs.map((_, partitionId) => ({ partitionId, leader: leaderOf(partitionId) })),
    findLeaderForPartitions: (_: string, wanted: string[]) =>
      Object.fromEntries(Map.groupBy(wanted.map(Number), leaderOf)),
  }
  return { cluster, added, written: () => logs.map(({ values }) => values), tries }
}

const quiet = { debug() {}, info() {}, warn() {}, error() {}, namespace: () => quiet }

async function connectProducer(cluster: object, options: object = {}): Promise<Producer> {
  const retry = { initialRetryTime: 1, maxRetryTime: 2, retries: 200 }
  const producer = createProducer({ cluster, logger: quiet, idempotent: true, retry, ...options })
  await producer.connect()
  return producer
}

/** `count` messages for each of the partitions. */
const messagesFor = (partitions: number[], count = 2): Message[] =>
  partitions.flatMap((partition) =>
    Array.from({ length: count }, (_, n) => ({ partition, value: `${partition}.${n}` })),
  )
const valuesOf = (messages: readonly Message[], partition: number) =>
  messages.filter((message) => message.partition === partition).map(({ value }) => String(value))

const three = [0, 1, 2]
const firstOf = (fates: Partial<Record<number, Fate>>) => {
  return ({ partition, nth }: { partition: number; nth: number }): Fate =>
    nth === 1 ? (fates[partition] ?? 'ok') : 'ok'
}

describe('an idempotent producer', () => {
  test.each<[string, Partial<Record<number, Fate>>]>([
    ['a request is lost while the other brokers answer late', { 0: 'lose-request', 1: 'late', 2: 'late' }],
    ['an answer is lost while the other brokers answer late', { 0: 'lose-answer', 1: 'late', 2: 'late' }],
    ['two answers are lost', { 0: 'lose-answer', 1: 'lose-answer' }],
    ['a broker does not lead any more', { 0: 'NOT_LEADER', 1: 'late' }],
    ['a broker has too few replicas after it has appended', { 0: 'TOO_FEW_AFTER_APPEND', 1: 'late' }],
    ['a broker waits for its replicas in vain', { 0: 'TIMED_OUT' }],
  ])('writes each record once where %s', async (_, fates) => {
    const { cluster, written } = createPretendedCluster({ partitions: 3, fateOf: firstOf(fates) })
    const producer = await connectProducer(cluster)
    const messages = messagesFor(three)
    const results = await producer.send({ topic, messages })

    expect(written()).toEqual(three.map((partition) => valuesOf(messages, partition)))
    expect(results.map(({ partition, baseOffset }) => [partition, baseOffset]).sort()).toEqual(
      three.map((partition) => [partition, '0']),
    )
  })

  test('does not send an acknowledged partition again when another broker leads it meanwhile', async () => {
    let leader = 0
    const { cluster, tries, written } = createPretendedCluster({
      partitions: 2,
      // Broker 0 is asked first, and acknowledges partition 1.
      leaderOf: (partition) => (partition === 0 ? 1 : leader),
      fateOf: ({ partition, nth }) => {
        if (partition !== 0 || nth > 1) return 'ok'
        leader = 1
        return 'TOO_FEW_REPLICAS'
      },
    })
    const producer = await connectProducer(cluster)
    const messages = messagesFor([0, 1])
    await producer.send({ topic, messages })
    expect(tries).toEqual([2, 1])
    expect(written()).toEqual([valuesOf(messages, 0), valuesOf(messages, 1)])
  })

  test('does not let a later send overtake one that is tried again', async () => {
    const fateOf = firstOf({ 0: 'lose-answer', 1: 'late' })
    const { cluster, written } = createPretendedCluster({ partitions: 2, fateOf })
    const producer = await connectProducer(cluster)
    const sends = ['first', 'second', 'third'].map((value) =>
      producer.send({ topic, messages: [0, 1].map((partition) => ({ partition, value })) }),
    )
    await Promise.all(sends)
    expect(written()).toEqual([
      ['first', 'second', 'third'],
      ['first', 'second', 'third'],
    ])
  })

  test('assigns a message without partition or key once, and not again at each try', async () => {
    const { cluster, written } = createPretendedCluster({
      partitions: 3,
      fateOf: ({ nth }) => (nth === 1 ? 'lose-answer' : 'ok'),
    })
    let turn = 0
    const producer = await connectProducer(cluster, { createPartitioner: () => () => turn++ % 3 })
    await producer.send({ topic, messages: [{ value: 'once' }] })
    expect(written().flat()).toEqual(['once'])
  })

  test('says in its error which records were acknowledged', async () => {
    const { cluster } = createPretendedCluster({
      partitions: 3,
      fateOf: ({ partition, nth }) => {
        if (partition === 0) return 'TOO_LARGE'
        return partition === 1 && nth === 1 ? 'lose-answer' : 'ok'
      },
    })
    const producer = await connectProducer(cluster)
    const error = await producer.send({ topic, messages: messagesFor(three) }).catch((error) => error)
    expect(error).toMatchObject({ type: 'MESSAGE_TOO_LARGE' })
    const acknowledged = (error as { acknowledged: RecordMetadata[] }).acknowledged
    expect(acknowledged.map(({ topicName, partition }) => [topicName, partition]).sort()).toEqual([
      [topic, 1],
      [topic, 2],
    ])
  })

  test('goes on under another id after a send that was never answered', async () => {
    let isAway = true
    const { cluster, written } = createPretendedCluster({
      partitions: 1,
      fateOf: () => (isAway ? 'lose-answer' : 'ok'),
    })
    const retry = { initialRetryTime: 1, maxRetryTime: 2, retries: 2 }
    const producer = await connectProducer(cluster, { retry })
    const send = (value: string) => producer.send({ topic, messages: [{ partition: 0, value }] })
    await expect(send('unanswered')).rejects.toThrow()
    isAway = false
    // The same number of records: under the old id and sequence the broker would count them as duplicates.
    await send('next')
    expect(written()).toEqual([['unanswered', 'next']])
  })

  test('writes each record of concurrent sends once, in order, whatever becomes of its requests', async () => {
    const fate = fc.constantFrom<Fate>(
      ...(['ok', 'ok', 'late', 'lose-request', 'lose-answer', 'NOT_LEADER'] as const),
      ...(['TIMED_OUT', 'TOO_FEW_REPLICAS', 'TOO_FEW_AFTER_APPEND', 'UNKNOWN_TOPIC_OR_PARTITION'] as const),
    )
    const moves = fc.array(fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 2 })), { maxLength: 10 })
    await fc.assert(
      fc.asyncProperty(fc.array(fate, { maxLength: 30 }), moves, async (fates, moves) => {
        const leaders = [0, 1, 2, 0]
        const { cluster, written } = createPretendedCluster({
          partitions: 4,
          leaderOf: (partition) => leaders[partition]!,
          fateOf: () => {
            const move = moves.pop()
            if (move) leaders[move[0]] = move[1]
            return fates.pop() ?? 'ok'
          },
        })
        const producer = await connectProducer(cluster)
        const sends = Array.from({ length: 4 }, (_, nth) => {
          const partitions = [0, 1, 2, 3].filter((partition) => partition !== nth)
          return producer.send({
            topic,
            messages: partitions.map((partition) => ({ partition, value: `send ${nth}` })),
          })
        })
        await Promise.all(sends)
        const expected = [0, 1, 2, 3].map((partition) => [0, 1, 2, 3].filter((nth) => nth !== partition))
        expect(written()).toEqual(expected.map((of) => of.map((nth) => `send ${nth}`)))
      }),
      { numRuns: 150 },
    )
  })
})

describe('a transaction', () => {
  const connectTransactional = (cluster: object) =>
    connectProducer(cluster, {
      idempotent: false,
      transactionalId: 'slot-1',
      retry: { initialRetryTime: 1, retries: 50 },
    })

  test.each<Fate>(['lose-request', 'lose-answer', 'NOT_LEADER', 'TIMED_OUT', 'TOO_FEW_AFTER_APPEND'])(
    'is given up after %s: it can be aborted, and not committed',
    async (fate) => {
      const { cluster, tries, written } = createPretendedCluster({
        partitions: 3,
        fateOf: firstOf({ 0: fate, 1: 'late', 2: 'late' }),
      })
      const producer = await connectTransactional(cluster)
      const transaction = await producer.transaction()
      const messages = messagesFor(three)
      await expect(transaction.send({ topic, messages })).rejects.toMatchObject({ retriable: false })
      expect(tries).toEqual([1, 1, 1])
      expect(written()[1]).toEqual(valuesOf(messages, 1))

      await expect(transaction.send({ topic, messages })).rejects.toThrow('can only be aborted')
      await expect(transaction.commit()).rejects.toThrow('can only be aborted')
      await transaction.abort()
      expect(tries).toEqual([1, 1, 1])

      // A new epoch: the broker takes the first sequence, and would refuse what is still under way of the old one.
      const next = await producer.transaction()
      await next.send({ topic, messages })
      await next.commit()
      expect(written()[1]).toEqual([...valuesOf(messages, 1), ...valuesOf(messages, 1)])
    },
  )

  test.each<Fate>(['TOO_FEW_REPLICAS', 'UNKNOWN_TOPIC_OR_PARTITION'])(
    'goes on after %s, which says that nothing was appended',
    async (fate) => {
      const { cluster, written } = createPretendedCluster({
        partitions: 3,
        fateOf: firstOf({ 0: fate, 1: 'late' }),
      })
      const producer = await connectTransactional(cluster)
      const transaction = await producer.transaction()
      const messages = messagesFor(three)
      await transaction.send({ topic, messages })
      await transaction.commit()
      expect(written()).toEqual(three.map((partition) => valuesOf(messages, partition)))
    },
  )

  test('adds the partitions of all brokers at once', async () => {
    const { cluster, added } = createPretendedCluster({ partitions: 3 })
    const producer = await connectTransactional(cluster)
    const transaction = await producer.transaction()
    await transaction.send({ topic, messages: messagesFor(three) })
    expect(added).toEqual([three])
  })
})
