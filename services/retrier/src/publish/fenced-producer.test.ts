// A producer that is given up while it connects. The Kafka here answers when the test lets it.
import { createLog } from 'dlq-core/runtime/log.ts'
import type { Kafka, Transaction } from 'kafkajs'
import { expect, test } from 'vitest'
import { createFencedProducer } from './fenced-producer.ts'

/** Producers whose transactions begin when the test says so. */
function createHeldKafka() {
  const producers: { begin: (transaction: Transaction) => void; isClosed: boolean }[] = []
  const producer = () => {
    const begun = Promise.withResolvers<Transaction>()
    const made = { begin: begun.resolve, isClosed: false }
    producers.push(made)
    return {
      connect: async () => {},
      transaction: () => begun.promise,
      disconnect: async () => {
        made.isClosed = true
      },
    }
  }
  return { kafka: { producer } as unknown as Kafka, producers }
}

const transactionOf = (name: string) => ({ name }) as unknown as Transaction
const options = {
  log: createLog({ service: 'retrier', level: 'silent' }),
  transactionalId: 'slot-1',
  transactionTimeoutMs: 20,
}

test('a producer that begins its transaction after it was given up does not take the place of its successor', async () => {
  const { kafka, producers } = createHeldKafka()
  const fenced = createFencedProducer({ kafka, ...options })

  const late = fenced.fence()
  await expect(fenced.bounded(late)).rejects.toThrow('no answer')
  await fenced.discard()
  const next = fenced.fence()
  await expect.poll(() => producers.length).toBe(2)
  producers[0]!.begin(transactionOf('late'))
  await expect(late).rejects.toThrow('given up')
  producers[1]!.begin(transactionOf('next'))
  await next

  expect(await fenced.transaction()).toEqual({ name: 'next' })
  expect(producers.map(({ isClosed }) => isClosed)).toEqual([true, false])
})

test('every transaction after a producer was given up begins with a new producer, and so with a new epoch', async () => {
  const { kafka, producers } = createHeldKafka()
  const fenced = createFencedProducer({ kafka, ...options })
  const fencing = fenced.fence()
  await expect.poll(() => producers.length).toBe(1)
  producers[0]!.begin(transactionOf('first'))
  await fencing
  await fenced.discard()

  const transaction = fenced.transaction()
  await expect.poll(() => producers.length).toBe(2)
  producers[1]!.begin(transactionOf('second'))
  expect(await transaction).toEqual({ name: 'second' })
})

test('a producer that was idle for an hour is replaced, before Kafka forgets it', async () => {
  const { kafka, producers } = createHeldKafka()
  let now = 0
  const fenced = createFencedProducer({ kafka, ...options, now: () => now })
  const begin = async (name: string) => {
    const transaction = fenced.transaction()
    await expect.poll(() => producers.length).toBe(Number(name))
    producers.at(-1)!.begin(transactionOf(name))
    return transaction
  }
  await begin('1')
  now += 59 * 60_000
  await begin('1')
  now += 59 * 60_000
  await begin('1')
  now += 60 * 60_000

  expect(await begin('2')).toEqual({ name: '2' })
  expect(producers.map(({ isClosed }) => isClosed)).toEqual([true, false])
})

test('a producer of a frozen broker holds nobody up', async () => {
  const frozen = {
    connect: async () => {},
    transaction: async () => transactionOf('frozen'),
    disconnect: () => new Promise(() => {}),
  }
  const fenced = createFencedProducer({ kafka: { producer: () => frozen } as unknown as Kafka, ...options })
  await fenced.fence()
  await expect(fenced.discard()).resolves.toBeUndefined()
})
