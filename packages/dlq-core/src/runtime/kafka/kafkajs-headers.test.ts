// The changes of patches/kafkajs@2.2.4.patch to the headers of records, without a broker.
import { createRequire } from 'node:module'
import fc from 'fast-check'
import type { HeaderPair } from 'kafkajs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { readMessagesLate } from './kafkajs-internals.ts'
import { throughTheWire } from './test-wire.ts'

const require = createRequire(import.meta.url)
const Decoder = require('kafkajs/src/protocol/decoder')
const decodeRecord = require('kafkajs/src/protocol/recordBatch/record/v0/decoder')

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
    for (const [at, pair] of third.entries()) {
      expect(pair).toBe(second![at])
      expect(pair.repeats).toBe(true)
    }
    expect(second![2]!.repeats).toBeUndefined()
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

  test('a message that is read late has the same parts, each time, and no object form', async () => {
    onTestFinished(() => {
      decodeRecord.options.late = false
    })
    const records = [
      { key: 'k', value: 'v', headers: [['a', 'b'] as HeaderPair] },
      { key: null, value: null, headers: [] },
      {
        key: '',
        value: Buffer.alloc(300, 7),
        headers: [['a', null] as HeaderPair, ['', 'x'.repeat(200)] as HeaderPair],
      },
    ]
    const partsOf = ({
      key,
      value,
      headerPairs,
      offset,
      timestamp,
      timestampType,
    }: Awaited<ReturnType<typeof throughTheWire>>) => ({
      ...{ key, value, headerPairs, offset, timestamp, timestampType },
    })
    for (const record of records) {
      const { headers, ...sent } = record
      const at = { ...sent, timestamp: '1795268108781' }
      decodeRecord.options.late = false
      const whole = await throughTheWire({ headers, ...at })
      readMessagesLate()
      const late = await throughTheWire({ headers, ...at })
      expect(partsOf(late)).toEqual(partsOf(whole))
      expect(partsOf(late)).toEqual(partsOf(whole))
      expect(late.headers).toBeUndefined()
    }
  })

  test('a message that is read late, and whose batch was released, is not read as one without parts', async () => {
    onTestFinished(() => {
      decodeRecord.options.late = false
    })
    readMessagesLate()
    const late = await throughTheWire({ key: 'k', value: Buffer.alloc(100_000, 'x'), headers: [['a', 'b']] })
    const memory = late.value!.buffer as ArrayBuffer
    memory.transfer(0)
    expect(() => late.key).toThrow('The batch of this message has been released')
    expect(() => late.value).toThrow('has been released')
    expect(() => late.headerPairs).toThrow('has been released')
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
