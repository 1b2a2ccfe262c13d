// MessagePack and CBOR against the examples of their specifications, written by hand, and against themselves: what is
// read and written back must be the same bytes, whatever form a writer chose.

import { encode as pack, decode as unpack } from '@msgpack/msgpack'
import * as cborg from 'cborg'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PayloadFault } from '../payload-fault.ts'
import { anyBytes } from '../test-bytes.ts'
import { cborCodec } from './cbor-codec.ts'
import { msgpackCodec } from './msgpack-codec.ts'

const bytesOf = (hex: string) => Buffer.from(hex.replaceAll(' ', ''), 'hex')

/** Bytes in hexadecimal and the JSON text of them. */
const msgpackExamples: [string, string][] = [
  ['c0', 'null'],
  ['c2', 'false'],
  ['c3', 'true'],
  ['00', '0'],
  ['7f', '127'],
  ['e0', '-32'],
  ['ff', '-1'],
  ['cc ff', '255'],
  ['cd ffff', '65535'],
  ['ce ffffffff', '4294967295'],
  ['cf ffffffffffffffff', '18446744073709551615'],
  ['d0 80', '-128'],
  ['d1 8000', '-32768'],
  ['d2 80000000', '-2147483648'],
  ['d3 8000000000000000', '-9223372036854775808'],
  ['cb 3ff8000000000000', '1.5'],
  ['cb 3ff0000000000000', '1.0'],
  ['cb 8000000000000000', '-0.0'],
  ['cb 7ff8000000000000', '"NaN"'],
  ['ca 3dcccccd', '0.1'],
  ['ca ff800000', '"-Infinity"'],
  ['a0', '""'],
  ['a3 22c3a9', '"\\"é"'],
  ['d9 20 6161616161616161616161616161616161616161616161616161616161616161', `"${'a'.repeat(32)}"`],
  ['c4 02 00ff', '{"$bytes":"AP8="}'],
  ['93 01 02 03', '[1,2,3]'],
  ['82 a161 01 a162 c0', '{"a":1,"b":null}'],
  ['81 01 a161', '{"$map":[[1,"a"]]}'],
  ['82 a161 01 a161 02', '{"$map":[["a",1],["a",2]]}'],
  ['81 a4 246d6170 01', '{"$map":[["$map",1]]}'],
  ['d6 ff 6998c9a8', '{"$timestamp":"2026-02-20T20:52:56Z"}'],
  ['d7 ff 00000004 6998c9a8', '{"$timestamp":"2026-02-20T20:52:56.000000001Z"}'],
  ['c7 0c ff 1dcd6500 fffffffffffffffb', '{"$timestamp":"1969-12-31T23:59:55.5Z"}'],
  ['d5 07 0102', '{"$ext":7,"value":"AQI="}'],
  ['c7 00 80', '{"$ext":-128,"value":""}'],
]

const cborExamples: [string, string][] = [
  // RFC 8949, appendix A.
  ['00', '0'],
  ['18 18', '24'],
  ['19 03e8', '1000'],
  ['1a 000f4240', '1000000'],
  ['1b ffffffffffffffff', '18446744073709551615'],
  ['c2 49 010000000000000000', '18446744073709551616'],
  ['3b ffffffffffffffff', '-18446744073709551616'],
  ['c3 49 010000000000000000', '-18446744073709551617'],
  ['20', '-1'],
  ['39 03e7', '-1000'],
  ['fb 3ff199999999999a', '1.1'],
  ['fa 47c35000', '100000.0'],
  ['fb 7e37e43c8800759c', '1e+300'],
  ['f4', 'false'],
  ['f5', 'true'],
  ['f6', 'null'],
  ['f7', '{"$simple":23}'],
  ['f0', '{"$simple":16}'],
  ['f8 ff', '{"$simple":255}'],
  ['c0 74 323031332d30332d32315432303a30343a30305a', '{"$tag":0,"value":"2013-03-21T20:04:00Z"}'],
  ['c1 1a 514b67b0', '{"$tag":1,"value":1363896240}'],
  ['d8 18 45 6449455446', '{"$tag":24,"value":{"$bytes":"ZElFVEY="}}'],
  ['44 01020304', '{"$bytes":"AQIDBA=="}'],
  ['60', '""'],
  ['62 225c', '"\\"\\\\"'],
  ['64 f0908591', '"𐅑"'],
  ['80', '[]'],
  ['83 01 82 02 03 82 04 05', '[1,[2,3],[4,5]]'],
  ['a2 01 02 03 04', '{"$map":[[1,2],[3,4]]}'],
  ['a2 61 61 01 61 62 82 02 03', '{"a":1,"b":[2,3]}'],
]

/** Read, and only copied back: writers may use them, and ours does not. */
const cborOtherForms: [string, string][] = [
  ['f9 0001', '5.960464477539063e-8'],
  ['f9 3c00', '1.0'],
  ['f9 c400', '-4.0'],
  ['f9 7bff', '65504.0'],
  ['f9 fc00', '"-Infinity"'],
  ['fb 7ff8000000000001', '"NaN"'],
  ['1b 0000000000000001', '1'],
  ['c2 42 0001', '1'],
  ['5f 42 0102 43 030405 ff', '{"$bytes":"AQIDBAU="}'],
  ['7f 65 7374726561 64 6d696e67 ff', '"streaming"'],
  ['9f 01 82 02 03 9f 04 05 ff ff', '[1,[2,3],[4,5]]'],
  ['bf 63 46756e f5 63 416d74 21 ff', '{"Fun":true,"Amt":-2}'],
]
const msgpackOtherForms: [string, string][] = [
  ['cf 0000000000000001', '1'],
  ['d3 0000000000000001', '1'],
  ['db 00000001 61', '"a"'],
  ['dd 00000001 01', '[1]'],
  ['df 00000001 a161 01', '{"a":1}'],
  ['c7 04 ff 6998c9a8', '{"$timestamp":"2026-02-20T20:52:56Z"}'],
  // A number of nanoseconds that makes more than a second.
  ['d7 ff fffffffc 6998c9a8', '{"$ext":-1,"value":"/////GmYyag="}'],
]

/** In place of a value that has nothing in common with the new one. */
const nil = { msgpack: bytesOf('c0'), cbor: bytesOf('f6') }
const codecs = { msgpack: msgpackCodec, cbor: cborCodec }

describe.each([
  ['msgpack', msgpackExamples, msgpackOtherForms],
  ['cbor', cborExamples, cborOtherForms],
] as const)('%s', (format, examples, otherForms) => {
  const { read, write } = codecs[format]

  test.each(examples)('%s is %s, and written as the same bytes', (hex, json) => {
    expect(read(bytesOf(hex), 0)).toBe(json)
    const fresh = format === 'msgpack' ? bytesOf('91 c0') : bytesOf('81 f6')
    const isFresh = json !== 'null'
    // The shortest forms, except where the example has one that nothing but a float of 32 bits can mean.
    const isSingle = /^(ca|fa)/.test(hex)
    if (isFresh && !isSingle) expect(write(`[${json}]`, fresh, 0).subarray(1).toString('hex')).toBe(expected(hex, json))
    expect(write(json, bytesOf(hex), 0)).toEqual(bytesOf(hex))
  })

  /** Fresh texts that say NaN are texts. */
  function expected(hex: string, json: string): string {
    const text = json === '"NaN"' ? Buffer.from('NaN') : null
    return text === null ? hex.replaceAll(' ', '') : `${format === 'msgpack' ? 'a3' : '63'}${text.toString('hex')}`
  }

  test.each(otherForms)('%s is %s, and stays as it is', (hex, json) => {
    expect(read(bytesOf(hex), 0)).toBe(json)
    expect(write(json, bytesOf(hex), 0)).toEqual(bytesOf(hex))
  })

  test.each([
    ['{"$bytes":"no base64"}', '{"$bytes":"no base64"}', '/$bytes must be base64'],
    ['{"$tag":-1,"value":1}', '{"$tag":-1,"value":1}', 'the value must be one of the forms of'],
    ['{"$ext":200,"value":""}', '{"$ext":200,"value":""}', 'the value must be one of the forms of'],
    ['{"$simple":24}', '{"$simple":24}', 'the value must be one of the forms of'],
    [
      '{"$timestamp":"2026-02-30T00:00:00Z"}',
      '{"$timestamp":"2026-02-30T00:00:00Z"}',
      'the value must be one of the forms of',
    ],
    ['{"$map":[[1]]}', '{"$map":[[1]]}', '/$map/0 must be a pair [key, value]'],
    ['{"$map":[],"a":1}', '{"$map":[],"a":1}', 'the value must be one of the forms of'],
    ['{"a":["\\ud800"]}', '{"a":["\\ud800"]}', '/a/0 must be text'],
    [
      '{"a/b":0.1234567890123456789}',
      '{"a/b":0.1234567890123456789}',
      '/a~1b must be a number that a float of 64 bits holds with all its digits',
    ],
    ['1e400', '1e400', 'the value must be a number that a float of 64 bits holds'],
    ['an integer of 2,501 digits', `1${'0'.repeat(2500)}`, 'the value must be an integer that the format can hold'],
    ['102 lists in lists', `${'['.repeat(102)}${']'.repeat(102)}`, 'must be within 100 levels'],
  ])('%s cannot be written', (_, json, problem) => {
    expect(() => write(json, nil[format], 0)).toThrow(problem)
    expect(() => write(json, nil[format], 0)).toThrow(PayloadFault)
  })

  test('any bytes are a value that is written back as the same bytes, or a fault', () => {
    let values = 0
    fc.assert(
      fc.property(
        anyBytes({ maxChunks: 3 }).filter(({ length }) => length > 0),
        (bytes) => {
          let json: string
          try {
            json = read(bytes, 0)
          } catch (error) {
            expect(error).toBeInstanceOf(PayloadFault)
            return
          }
          values += 1
          JSON.parse(json)
          expect(write(json, bytes, 0)).toEqual(bytes)
        },
      ),
      { numRuns: 4000, examples: [[Buffer.alloc(9, 0xc1)], [Buffer.alloc(9, 0xff)]] },
    )
    expect(values).toBeGreaterThan(20)
  })

  test('any JSON is written, and read as it was', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), (text) => {
        // MessagePack has no integers of more than 64 bits.
        if (/\d{19}/.test(text)) return
        if (/\\u[dD][89a-fA-F]|[\ud800-\udfff]/.test(text) || /"\$/.test(text)) return
        const read1 = read(write(text, nil[format], 0), 0)
        expect(withoutNegativeZero(read1)).toEqual(withoutNegativeZero(text))
      }),
      { numRuns: 500 },
    )
  })
})

function withoutNegativeZero(json: string): unknown {
  return JSON.parse(json, (_, value) => (value === 0 ? 0 : value))
}

describe('beside the libraries', () => {
  /** JSON knows no negative zero; cborg gives a bigint for any integer above 2^53. */
  const plain = (value: unknown) =>
    JSON.parse(JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? Number(one) : one))) as unknown
  const libraries = [
    ['msgpack', (value: unknown) => pack(value, { useBigInt64: true }), (bytes: Buffer) => unpack(bytes)],
    ['cbor', (value: unknown) => cborg.encode(value), (bytes: Buffer) => cborg.decode(bytes)],
  ] as const

  test.each(libraries)(
    'what the library of %s writes is read, and what is written it reads',
    (format, encode, decode) => {
      const { read, write } = codecs[format]
      fc.assert(
        fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
          // The libraries take larger integers for floats, or the other way round; one refuses the name __proto__.
          if (/\d{19}|__proto__/.test(JSON.stringify(value))) return
          expect(plain(JSON.parse(read(Buffer.from(encode(value)), 0)))).toEqual(plain(value))
          expect(plain(decode(write(JSON.stringify(value), nil[format], 0)))).toEqual(plain(value))
        }),
        { numRuns: 500 },
      )
    },
  )

  test.each(libraries)('integers of %s keep all their digits', (format, encode) => {
    const { read } = codecs[format]
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (value) => {
        expect(read(Buffer.from(encode(value)), 0)).toBe(String(value))
      }),
    )
  })
})

describe('an edit', () => {
  // {"id": 1 in nine bytes, "price": 1.5 in 32 bits, "tags": ["a" in two bytes' length], "n": 7}
  const msgpack = bytesOf('84 a2 6964 cf0000000000000001 a5 7072696365 ca3fc00000 a4 74616773 91 d90161 a1 6e 07')
  const cbor = bytesOf('bf 62 6964 1b0000000000000001 65 7072696365 fa3fc00000 64 74616773 9f 780161 ff 61 6e 07 ff')
  const shown = '{"id":1,"price":1.5,"tags":["a"],"n":7}'

  test.each([
    ['msgpack', msgpack, 'cf0000000000000001', 'ca3fc00000', 'd90161'],
    ['cbor', cbor, '1b0000000000000001', 'fa3fc00000', '780161'],
  ] as const)('of %s leaves what it does not touch as it is', (format, bytes, ...untouched) => {
    const { read, write } = codecs[format]
    expect(read(bytes, 0)).toBe(shown)
    const changed = write('{"n":300,"id":1,"price":1.5,"tags":["new","a"],"more":{}}', bytes, 0)
    expect(read(changed, 0)).toBe('{"id":1,"price":1.5,"tags":["new","a"],"n":300,"more":{}}')
    for (const part of untouched) expect(changed.toString('hex')).toContain(part)
  })

  test.each([
    ['msgpack', msgpack],
    ['cbor', cbor],
  ] as const)('of a float in %s leaves a float, as long as it holds the digits', (format, bytes) => {
    const { read, write } = codecs[format]
    const head = format === 'msgpack' ? ['ca', 'cb'] : ['fa', 'fb']
    const after = (price: string) => write(shown.replace('1.5', price), bytes, 0).toString('hex')
    expect(after('0.1')).toContain(`${head[0]}3dcccccd`)
    expect(after('2')).toContain(`${head[0]}40000000`)
    expect(after('0.1234567891')).toContain(head[1]!)
    expect(read(Buffer.from(after('0.1234567891'), 'hex'), 0)).toContain('"price":0.1234567891')
  })

  test.each([
    ['msgpack', 'cb3ff8000000000000', 'cb3fe0000000000000'],
    ['cbor', 'fb3ff8000000000000', 'fb3fe0000000000000'],
  ] as const)('of a float of 64 bits in %s leaves one of 64 bits', (format, before, after) => {
    expect(codecs[format].write('0.5', bytesOf(before), 0)).toEqual(bytesOf(after))
  })

  test('keeps the order of a map whose names are numbers', () => {
    const bytes = bytesOf('82 a162 01 a132 02')
    expect(msgpackCodec.read(bytes, 0)).toBe('{"b":1,"2":2}')
    expect(msgpackCodec.write('{"b":1,"2":3}', bytes, 0)).toEqual(bytesOf('82 a162 01 a132 03'))
  })

  test('of pairs finds the old one by its key', () => {
    const bytes = bytesOf('82 01 cd0001 02 cd0002')
    expect(msgpackCodec.write('{"$map":[[2,2]]}', bytes, 0)).toEqual(bytesOf('81 02 cd0002'))
  })
})
