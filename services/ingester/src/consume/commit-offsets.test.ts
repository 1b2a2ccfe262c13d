import type { TopicPartitionOffset } from 'kafkajs'
import { beforeEach, expect, test, vi } from 'vitest'
import { createOffsetCommits } from './commit-offsets.ts'

const orders = (partition: number) => ({ topic: 'orders.dlq.v1', partition })
const payments = { topic: 'payments.dlq.v1', partition: 0 }

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  return () => void vi.useRealTimers()
})

/** Commits that are noted; `answer` is what Kafka says to each. */
function notedCommits(answer: () => Promise<void> = async () => {}) {
  const sent: TopicPartitionOffset[][] = []
  const faults: unknown[] = []
  const commits = createOffsetCommits({
    intervalMs: 1000,
    commit: (offsets) => {
      sent.push(offsets)
      return answer()
    },
    onFault: (error) => void faults.push(error),
  })
  return { commits, sent, faults }
}

test('the first is committed at once, what follows within a second together, with the last offset of each partition', async () => {
  const { commits, sent } = notedCommits()
  commits.note(orders(0), 10n)
  expect(sent).toEqual([[{ ...orders(0), offset: '10' }]])
  commits.note(orders(0), 20n)
  commits.note(orders(1), 5n)
  commits.note(payments, 7n)
  commits.note(orders(0), 30n)
  await vi.advanceTimersByTimeAsync(999)
  expect(sent).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(1)
  const together = [
    { ...orders(0), offset: '30' },
    { ...orders(1), offset: '5' },
    { ...payments, offset: '7' },
  ]
  expect(sent.slice(1)).toEqual([together])
})

test('after a second without anything new, the next is committed at once again', async () => {
  const { commits, sent } = notedCommits()
  commits.note(orders(0), 1n)
  await vi.advanceTimersByTimeAsync(1000)
  commits.note(orders(0), 2n)
  expect(sent).toHaveLength(2)
  expect(vi.getTimerCount()).toBe(1)
})

test('while a commit waits for Kafka no other is sent, so that none comes behind a newer one', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { commits, sent } = notedCommits(() => promise)
  commits.note(orders(0), 1n)
  commits.note(orders(0), 2n)
  await vi.advanceTimersByTimeAsync(3000)
  commits.note(orders(0), 3n)
  expect(sent).toHaveLength(1)
  resolve()
  await vi.advanceTimersByTimeAsync(1000)
  expect(sent.slice(1)).toEqual([[{ ...orders(0), offset: '3' }]])
})

test('what was noted of former partitions is not committed', async () => {
  const { commits, sent } = notedCommits()
  commits.note(orders(0), 1n)
  commits.note(orders(0), 2n)
  commits.forget()
  await vi.advanceTimersByTimeAsync(5000)
  expect(sent).toHaveLength(1)
})

test('the end commits what is left, and leaves no timer behind', async () => {
  const { commits, sent } = notedCommits()
  commits.note(orders(0), 1n)
  commits.note(orders(0), 2n)
  await commits.stop()
  expect(sent.slice(1)).toEqual([[{ ...orders(0), offset: '2' }]])
  expect(vi.getTimerCount()).toBe(0)
})

test('the end comes when Kafka has answered: the consumer disconnects behind it', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { commits, sent } = notedCommits(() => (sent.length === 1 ? Promise.resolve() : promise))
  commits.note(orders(0), 1n)
  commits.note(orders(0), 2n)
  let isOver = false
  const stopping = commits.stop().then(() => {
    isOver = true
  })
  await vi.advanceTimersByTimeAsync(100)
  expect([sent.length, isOver]).toEqual([2, false])
  resolve()
  await stopping
})

test('the end does not wait for a broker that is away', async () => {
  const { commits } = notedCommits(() => new Promise(() => {}))
  commits.note(orders(0), 1n)
  await commits.stop()
})

test('a commit that fails holds nothing up', async () => {
  const answers = [Promise.reject(new Error('not now'))]
  const { commits, sent, faults } = notedCommits(async () => answers.pop())
  commits.note(orders(0), 1n)
  commits.note(orders(0), 2n)
  await vi.advanceTimersByTimeAsync(1000)
  expect(faults).toEqual([new Error('not now')])
  expect(sent.slice(1)).toEqual([[{ ...orders(0), offset: '2' }]])
})
