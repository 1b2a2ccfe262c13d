// The changes of patches/kafkajs@2.2.4.patch that show without a broker. These tests reach into kafkajs: after an
// update of it, they say which hunks are still needed.
import { createRequire } from 'node:module'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import type { HeaderPair, KafkaMessage } from 'kafkajs'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { throughTheWire } from './test-wire.ts'

const require = createRequire(import.meta.url)
const Decoder = require('kafkajs/src/protocol/decoder')
const Encoder = require('kafkajs/src/protocol/encoder')
const decodeMessages = require('kafkajs/src/protocol/requests/fetch/v4/decodeMessages')
const decodeMessageSet = require('kafkajs/src/protocol/messageSet/decoder')
const decodeRecord = require('kafkajs/src/protocol/recordBatch/record/v0/decoder')
const encodeRecord = require('kafkajs/src/protocol/recordBatch/record/v0')
const { RecordBatch } = require('kafkajs/src/protocol/recordBatch/v0')
const groupMessagesPerPartition = require('kafkajs/src/producer/groupMessagesPerPartition')
const Runner = require('kafkajs/src/consumer/runner')
const RequestQueue = require('kafkajs/src/network/requestQueue')

const attributesAt = 21
const firstTimestampAt = 27
const maxTimestampAt = 35
const appendTimeFlag = 0x08

describe('timestamps', () => {
  const year9999 = 253402300799999n
  const int64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n }

  test.each([-1n, 0n, 1n, year9999, int64.min, int64.max])('%s is read as it was written', async (timestamp) => {
    const received = await throughTheWire({}, (batch) => batch.writeBigInt64BE(timestamp, firstTimestampAt))
    expect(received).toMatchObject({ timestamp: String(timestamp), timestampType: 'create' })
  })

  test('a delta that leaves int64 wraps, as in the Java client', async () => {
    const { buffer } = encodeRecord({ key: null, value: null, timestampDelta: 1 })
    const record = decodeRecord(new Decoder(buffer.subarray(1)), { firstOffset: '0', firstTimestamp: `${int64.max}` })
    expect(record.timestamp).toBe(`${int64.min}`)
  })

  test('with log-append time every record has the timestamp of the batch, set by the broker', async () => {
    const received = await throughTheWire({}, (batch) => {
      batch.writeInt16BE(appendTimeFlag, attributesAt)
      batch.writeBigInt64BE(year9999, maxTimestampAt)
    })
    expect(received).toMatchObject({ timestamp: String(year9999), timestampType: 'append' })
  })
})

describe('messages of the formats before record batches', () => {
  type OldMessage = { magic: 0 | 1; attributes: number; timestamp?: bigint; value: Buffer }
  const encodeOld = ({ magic, attributes, timestamp, value }: OldMessage) => {
    const body = new Encoder().writeInt32(0).writeInt8(magic).writeInt8(attributes)
    if (timestamp !== undefined) body.writeInt64(timestamp)
    body.writeBytes(null).writeBytes(value)
    return new Encoder().writeInt64(5).writeBytes(body.buffer).buffer
  }
  const decodeOld = (set: Buffer): Promise<KafkaMessage[]> =>
    decodeMessageSet(new Decoder(new Encoder().writeBytes(set).buffer))

  test('carry no headers, and -1 for a timestamp that they cannot have', async () => {
    const set = encodeOld({ magic: 0, attributes: 0, value: Buffer.from('old') })
    expect(await decodeOld(set)).toMatchObject([
      { value: Buffer.from('old'), headerPairs: [], timestamp: '-1', timestampType: 'create' },
    ])
  })

  test('take the timestamp of the wrapper where the broker set it', async () => {
    const inner = encodeOld({ magic: 1, attributes: 0, timestamp: 1n, value: Buffer.from('old') })
    const wrapped = (flags: number) =>
      encodeOld({ magic: 1, attributes: 0x01 | flags, timestamp: 9n, value: gzipSync(inner) })
    expect(await decodeOld(wrapped(0))).toMatchObject([{ timestamp: '1', timestampType: 'create' }])
    expect(await decodeOld(wrapped(appendTimeFlag))).toMatchObject([{ timestamp: '9', timestampType: 'append' }])
  })
})

test('a batch of 300,000 records is decoded', async () => {
  const record = encodeRecord({ key: null, value: null })
  const { buffer } = await RecordBatch({ records: Array(300_000).fill(record) })
  expect(await decodeMessages(new Decoder(new Encoder().writeBytes(buffer).buffer))).toHaveLength(300_000)
})

/** How often `run` goes through an array from its beginning, as `[...list]` and `for` do. */
function countIterations<T>(run: () => T): { result: T; count: number } {
  const iterate = Array.prototype[Symbol.iterator]
  let count = 0
  Array.prototype[Symbol.iterator] = function (this: unknown[]) {
    count += 1
    return iterate.call(this)
  }
  try {
    const result = run()
    return { result, count }
  } finally {
    Array.prototype[Symbol.iterator] = iterate
  }
}

describe('encoding a record', () => {
  afterEach(() => vi.restoreAllMocks())

  test('numbers are as long as they must be', () => {
    const bytesOf = (value: number) => new Encoder().writeVarLong(value).buffer.toString('hex')
    // The zigzag encoding of Protocol Buffers, seven bits a byte.
    const known = { 0: '00', '-1': '01', 63: '7e', 64: '8001', '-64': '7f', '-65': '8101' }
    for (const [value, hex] of Object.entries(known)) expect(bytesOf(Number(value))).toBe(hex)
    expect(bytesOf(2 ** 31 - 1)).toBe('feffffff0f')
    expect(bytesOf(-(2 ** 31))).toBe('ffffffff0f')
    expect(bytesOf(2 ** 31)).toBe('8080808010')
    for (const value of [0, -1, 64, 2 ** 31 - 1, -(2 ** 31), 2 ** 31, 2 ** 40])
      expect(Encoder.sizeOfVarLong(value)).toBe(bytesOf(value).length / 2)
  })

  test('takes one buffer, whatever its headers', () => {
    const headers: HeaderPair[] = Array.from({ length: 20 }, (_, at) => [`name-${at}`, Buffer.from(`value ${at}`)])
    const made = (['alloc', 'allocUnsafe', 'from'] as const).map((name) => vi.spyOn(Buffer, name))
    encodeRecord({ key: Buffer.from('key'), value: Buffer.alloc(3000), timestampDelta: 300, offsetDelta: 70, headers })
    // The first two calls are this test's own: of its value's buffer, and of its key's.
    expect(made.reduce((sum, { mock }) => sum + mock.calls.length, 0)).toBe(3)
  })
})

describe('grouping by partition', () => {
  const group = (messages: { partition: number }[]) =>
    groupMessagesPerPartition({
      topic: 't',
      partitionMetadata: [{}],
      messages,
      partitioner: ({ message }: { message: { partition: number } }) => message.partition,
    })

  test('every partition gets its messages in their order', () => {
    const partition = fc.nat(5).map((number) => ({ partition: number }))
    fc.assert(
      fc.property(fc.array(partition), (messages) => {
        expect(group(messages)).toEqual(Object.groupBy(messages, ({ partition: number }) => number))
      }),
    )
  })

  test('a partition keeps one list however many messages it gets', () => {
    const messages = Array.from({ length: 200 }, () => ({ partition: 0 }))
    const { result, count } = countIterations(() => group(messages))
    expect(result[0]).toHaveLength(200)
    // It goes through the messages, and through no list of a partition in order to copy it.
    expect(count).toBeLessThanOrEqual(1)
  })
})

test('a consumer that fails to start leaves the group that may have let it in', async () => {
  const calls: string[] = []
  const fault = new Error('a topic was deleted')
  const logger = { namespace: () => logger }
  const runner = new Runner({
    logger,
    consumerGroup: {
      connect: async () => calls.push('connect'),
      joinAndSync: () => Promise.reject(fault),
      leave: async () => calls.push('leave'),
    },
    onCrash: (error: Error) => calls.push(error.message),
  })
  await runner.start()
  expect(calls).toEqual(['connect', 'leave', fault.message])
})

describe('the request queue', () => {
  type Entry = { correlationId: number; resolve: () => void; reject: (error: Error) => void }

  beforeEach(() => vi.useFakeTimers({ now: 1_000_000 }))
  // In this order: a spy on a fake timer that is restored later brings the fake one back, for the worker's next file.
  afterEach(() => {
    vi.restoreAllMocks()
    vi.useRealTimers()
  })

  const logger = { debug() {}, warn() {} }
  const newQueue = (options = {}) => {
    const settings = { requestTimeout: 30_000, enforceRequestTimeout: true, clientId: 'c', broker: 'b', logger }
    const queue = new RequestQueue({ ...settings, ...options })
    queue.scheduleRequestTimeoutCheck()
    return queue
  }
  const push = (queue: typeof RequestQueue, correlationId: number, requestTimeout?: number) => {
    const entry: Entry & object = { correlationId, resolve: vi.fn(), reject: vi.fn() }
    const sendRequest = vi.fn()
    queue.push({ entry, expectResponse: true, requestTimeout, sendRequest })
    return { ...entry, sendRequest }
  }
  const answer = (queue: typeof RequestQueue, correlationId: number) =>
    queue.fulfillRequest({ correlationId, payload: Buffer.alloc(0), size: 0 })

  test('has no timer while there is no request', () => {
    newQueue()
    expect(vi.getTimerCount()).toBe(0)
  })

  test('wakes up once after its last answer, and then no more', () => {
    const setTimeout = vi.spyOn(globalThis, 'setTimeout')
    const queue = newQueue()
    for (const id of [1, 2, 3]) {
      push(queue, id)
      answer(queue, id)
    }
    expect(vi.getTimerCount()).toBe(1)
    vi.advanceTimersByTime(30_001)
    expect(vi.getTimerCount()).toBe(0)
    for (const [, delay] of setTimeout.mock.calls) expect(delay).toBeGreaterThan(0)
  })

  test('rejects each request at its own deadline', () => {
    const queue = newQueue()
    const long = push(queue, 1, 60_000)
    vi.advanceTimersByTime(5_000)
    const short = push(queue, 2)
    vi.advanceTimersByTime(29_999)
    expect(short.reject).not.toHaveBeenCalled()
    vi.advanceTimersByTime(2)
    expect(short.reject).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ name: 'KafkaJSRequestTimeoutError' }),
    )
    vi.advanceTimersByTime(24_998)
    expect(long.reject).not.toHaveBeenCalled()
    vi.advanceTimersByTime(2)
    expect(long.reject).toHaveBeenCalledOnce()
    expect(vi.getTimerCount()).toBe(0)
  })

  test('a timeout longer than a timer can wait does not spin', () => {
    const setTimeout = vi.spyOn(globalThis, 'setTimeout')
    push(newQueue(), 1, Number.MAX_SAFE_INTEGER)
    vi.advanceTimersByTime(1_000)
    expect(setTimeout).toHaveBeenCalledOnce()
  })

  test('a throttled request is sent when the throttle ends', () => {
    const queue = newQueue()
    queue.maybeThrottle(500)
    const { sendRequest } = push(queue, 1)
    vi.advanceTimersByTime(499)
    expect(sendRequest).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(sendRequest).toHaveBeenCalledOnce()
  })

  test('a request beyond the limit in flight is sent when one before it is answered', () => {
    const queue = newQueue({ maxInFlightRequests: 1 })
    push(queue, 1)
    const { sendRequest } = push(queue, 2)
    expect(sendRequest).not.toHaveBeenCalled()
    answer(queue, 1)
    expect(sendRequest).toHaveBeenCalledOnce()
  })

  test('a closed queue leaves no timer behind', () => {
    const queue = newQueue()
    queue.maybeThrottle(500)
    push(queue, 1)
    queue.destroy()
    expect(vi.getTimerCount()).toBe(0)
  })
})
