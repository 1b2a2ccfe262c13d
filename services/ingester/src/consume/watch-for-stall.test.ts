import { Kafka, logLevel } from 'kafkajs'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { watchForStall } from './watch-for-stall.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A consumer that never connects, and a function by which it shows a sign of life. */
function idleConsumer() {
  const { events } = new Kafka({ brokers: ['127.0.0.1:1'], logLevel: logLevel.NOTHING }).consumer({ groupId: 'idle' })
  const listeners = new Map<string, () => void>()
  const on = ((event: string, listener: () => void) => listeners.set(event, listener)) as never
  return { consumer: { events, on }, sign: (event: string) => listeners.get(event)!(), events }
}

test('a consumer that shows no sign of life for a minute and a half hangs', async () => {
  const { consumer, sign, events } = idleConsumer()
  const watch = watchForStall(consumer)
  const hangs = vi.fn()
  watch.stalled.catch(hangs)
  for (const event of [events.HEARTBEAT, events.FETCH, events.GROUP_JOIN, events.REBALANCING, events.CRASH]) {
    await vi.advanceTimersByTimeAsync(85_000)
    sign(event)
  }
  await vi.advanceTimersByTimeAsync(85_000)
  expect(hangs).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(15_000)
  expect(hangs).toHaveBeenCalledWith(expect.objectContaining({ code: 'CONSUMER_STALLED' }))
  watch.stop()
})

test('one that was stopped is watched no more', async () => {
  const watch = watchForStall(idleConsumer().consumer)
  const hangs = vi.fn()
  watch.stalled.catch(hangs)
  watch.stop()
  await vi.advanceTimersByTimeAsync(200_000)
  expect(hangs).not.toHaveBeenCalled()
})
