// The changes of patches/kafkajs@2.2.4.patch that show without a broker. These tests reach into kafkajs: after an
// update of it, they say which hunks are still needed.
import { createRequire } from 'node:module'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import type { HeaderPair, KafkaMessage, Message } from 'kafkajs'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { readHeaderPairsOnly } from './kafkajs-internals.ts'

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

/** The message that a consumer gets from a batch of one record. `change` edits the batch on its way. */
async function throughTheWire(message: Partial<Message>, change = (_batch: Buffer) => {}): Promise<KafkaMessage> {
  const record = encodeRecord({ key: null, value: null, ...message })
  const { buffer } = await RecordBatch({ records: [record], firstTimestamp: 1000, maxTimestamp: 2000 })
  change(buffer)
  const [received] = await decodeMessages(new Decoder(new Encoder().writeBytes(buffer).buffer))
  return received
}

/** More numbers than any record of these tests holds. */
const maxReads = 1_000

/**
 * A record of format 2 without key and value, followed by the given bytes where its headers stand. A decoder that
 * goes on after the record's end throws, or a count of 2^31 - 1 would keep it busy for ever.
 */
function recordWith(...headers: number[]) {
  const decoder = new Decoder(Buffer.from([0, 0, 0, 1, 1, ...headers]))
  let reads = 0
  decoder.readVarInt = () => {
    reads += 1
    if (reads > maxReads) throw new Error('the decoder reads on after the end of the record')
    return Decoder.prototype.readVarInt.call(decoder)
  }
  return decodeRecord(decoder, { firstOffset: '0', firstTimestamp: '0' })
}

describe('headers', () => {
  test('pairs keep their order, duplicates, nulls and every name', async () => {
    const headers: HeaderPair[] = [
      ['z', 'last first'],
      ['42', Buffer.from([0xff, 0x00])],
      ['z', null],
      ['', ''],
      ['__proto__', 'p'],
      ['constructor', null],
      ['7', '7'],
      ['z', 'again'],
    ]
    const { headerPairs } = await throughTheWire({ headers })
    expect(headerPairs).toEqual(
      headers.map(([name, value]) => [name, value === null ? null : Buffer.from(value as string)]),
    )
  })

  test('any pairs survive the round trip', async () => {
    const name = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('__proto__', 'toString', '0', 'a'))
    const value = fc.option(fc.uint8Array().map((bytes) => Buffer.from(bytes)))
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(name, value)), async (headers) => {
        expect((await throughTheWire({ headers })).headerPairs).toEqual(headers)
      }),
    )
  })

  test('the object form is unchanged, and names that objects inherit are headers like any other', async () => {
    const { headers } = await throughTheWire({
      headers: [
        ['a', '1'],
        ['__proto__', 'p'],
        ['constructor', 'c'],
        ['a', null],
        ['a', '3'],
        ['b', null],
        ['toString', 's'],
        ['toString', 't'],
      ],
    })
    expect(Object.entries(headers ?? {})).toEqual([
      ['a', [Buffer.from('1'), null, Buffer.from('3')]],
      ['__proto__', Buffer.from('p')],
      ['constructor', Buffer.from('c')],
      ['b', null],
      ['toString', [Buffer.from('s'), Buffer.from('t')]],
    ])
    expect(headers?.valueOf).toBeUndefined()
  })

  test('an object may hold nulls, alone and in a list', async () => {
    const { headerPairs } = await throughTheWire({ headers: { a: null, b: ['x', null], c: undefined, d: [] } })
    expect(headerPairs).toEqual([
      ['a', null],
      ['b', Buffer.from('x')],
      ['b', null],
      ['c', null],
    ])
  })

  test('a message that is copied has its headers in both forms', async () => {
    const message = { ...(await throughTheWire({ headers: [['a', 'b']] })) }
    expect({ ...message.headers }).toEqual({ a: Buffer.from('b') })
    expect(message.headerPairs).toEqual([['a', Buffer.from('b')]])
  })

  test('pairs that repeat are the same one, in memory of its own', async () => {
    const headers: HeaderPair[] = [
      ['kafka_dlt-original-topic', 'orders'],
      ['kafka_dlt-exception-message', null],
    ]
    const [first, second, third] = [
      (await throughTheWire({ headers })).headerPairs,
      (await throughTheWire({ headers: [...headers, ['kafka_dlt-original-topic', 'order']] })).headerPairs,
      (await throughTheWire({ headers })).headerPairs,
    ]
    expect(third).toEqual(first)
    for (const [at, pair] of third.entries()) expect(pair).toBe(second![at])
    expect(third[0]![1]!.buffer.byteLength).toBeLessThan(64)
    expect(second![2]).toEqual(['kafka_dlt-original-topic', Buffer.from('order')])
  })

  test('whatever was read before, the same bytes are the same headers', async () => {
    const name = fc.oneof(fc.constantFrom('a', 'b', 'é', 'tenant', 'x'.repeat(300)), fc.string({ unit: 'binary' }))
    const value = fc.option(
      fc.oneof(
        fc.constantFrom('', 'a', 'orders', '\0', 'x'.repeat(300)).map((text) => Buffer.from(text)),
        fc.uint8Array().map((bytes) => Buffer.from(bytes)),
      ),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.tuple(name, value), { maxLength: 4 }), { maxLength: 20 }),
        async (records) => {
          for (const headers of records) expect((await throughTheWire({ headers })).headerPairs).toEqual(headers)
        },
      ),
    )
  })

  test('pairs are not mistaken for others that are kept in their places', async () => {
    const headers = Array.from(
      { length: 20_000 },
      (_, at): HeaderPair => [`n-${at >> 1}`, Buffer.from(String(at >> 1))],
    )
    expect((await throughTheWire({ headers })).headerPairs).toEqual(headers)
  })

  test('pairs that all differ leave nothing behind', async () => {
    const { headerPairs } = await throughTheWire({
      headers: Array.from({ length: 10_000 }, (_, at): HeaderPair => ['order', String(at)]),
    })
    const again = await throughTheWire({ headers: [['order', '77']] })
    expect(again.headerPairs[0]).not.toBe(headerPairs[77])
  })

  test('the object form is left out where nobody wants it', async () => {
    onTestFinished(() => {
      decodeRecord.options.headersObject = true
    })
    readHeaderPairsOnly()
    const message = await throughTheWire({ headers: [['a', 'b']] })
    expect(message).toMatchObject({ headers: undefined, headerPairs: [['a', Buffer.from('b')]] })
  })

  test('a record without headers has no pairs', async () => {
    expect(await throughTheWire({})).toMatchObject({ headers: {}, headerPairs: [] })
  })

  test.each([
    ['a negative count', [0x03]],
    ['a count of 2^31 - 1', [0xfe, 0xff, 0xff, 0xff, 0x0f]],
    ['a varint that never ends', [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]],
    ['a negative name length', [0x02, 0x05, 0x02, 0x61]],
    ['lengths beyond the record', [0x02, 0x7e, 0x61]],
    ['a name that is not UTF-8', [0x02, 0x04, 0xc3, 0x28, 0x01]],
    ['nothing at all', []],
  ])('a malformed record is decoded without an error: %s', (_what, bytes) => {
    expect(recordWith(...bytes).headerPairs.length).toBeLessThanOrEqual(bytes.length)
  })

  test('a negative length is null, and reading goes on after it', () => {
    const [one, minusThree, letter] = [0x02, 0x05, 0x61]
    expect(recordWith(one, minusThree, one, letter).headerPairs).toEqual([['', Buffer.from('a')]])
    expect(recordWith(one, one, letter, minusThree).headerPairs).toEqual([['a', null]])
  })

  test('any bytes in the place of headers end in a list no longer than they are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        const { headers, headerPairs } = recordWith(...bytes)
        expect(headerPairs.length).toBeLessThanOrEqual(bytes.length)
        for (const [name, value] of headerPairs) {
          expect(typeof name).toBe('string')
          expect(value === null || Buffer.isBuffer(value)).toBe(true)
          expect(Object.keys(headers)).toContain(name)
        }
      }),
    )
  })
})

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
