// What kafkajs does while somebody sets the machine's clock (patches/README.md, 0047).
import { EventEmitter } from 'node:events'
import { createRequire } from 'node:module'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

const require = createRequire(import.meta.url)
const ConsumerGroup = require('kafkajs/src/consumer/consumerGroup')
const RequestQueue = require('kafkajs/src/network/requestQueue')

const quiet = { debug() {}, info() {}, warn() {}, error() {}, namespace: () => quiet }
const hoursMs = 2 * 3_600_000

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

/** Sets the clock, without letting time pass. */
const setClock = (byMs: number) => vi.setSystemTime(Date.now() + byMs)

test('a member whose clock is set back goes on with its heartbeats', async () => {
  let heartbeats = 0
  const group = new ConsumerGroup({
    ...{ cluster: {}, logger: quiet, instrumentationEmitter: new EventEmitter(), groupId: 'g', topics: ['orders'] },
    ...{ assigners: [], retry: { retries: 0 } },
  })
  Object.assign(group, { coordinator: { heartbeat: async () => void heartbeats++ }, memberId: 'm', generationId: 1 })
  const beat = () => group.heartbeat({ interval: 1000 })
  vi.advanceTimersByTime(1000)
  await beat()
  expect(heartbeats).toBe(1)
  setClock(-hoursMs)
  vi.advanceTimersByTime(999)
  await beat()
  expect(heartbeats).toBe(1)
  vi.advanceTimersByTime(1)
  await beat()
  expect(heartbeats).toBe(2)
})

test.each([
  ['back', -hoursMs],
  ['ahead', hoursMs],
])('a request times out when its time has passed, also where the clock is set %s', (_, byMs) => {
  const settings = { requestTimeout: 30_000, enforceRequestTimeout: true, clientId: 'c', broker: 'b', logger: quiet }
  const queue = new RequestQueue(settings)
  queue.scheduleRequestTimeoutCheck()
  const entry = { correlationId: 1, resolve: vi.fn(), reject: vi.fn() }
  queue.push({ entry, expectResponse: true, sendRequest() {} })
  vi.advanceTimersByTime(1000)
  setClock(byMs)
  vi.advanceTimersByTime(28_999)
  expect(entry.reject).not.toHaveBeenCalled()
  vi.advanceTimersByTime(2)
  expect(entry.reject).toHaveBeenCalledOnce()
})
