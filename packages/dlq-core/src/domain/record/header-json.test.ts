import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeHeaders, encodeHeaders, parseHeaders, readHeaders, storedHeaders } from './header-json.ts'
import type { Header } from './record.ts'

const stacktrace = `java.lang.IllegalStateException: größer\n${'\tat com.acme.Orders.process(Orders.java:7)\n'.repeat(5)}`

describe('the stored form', () => {
  test('text is stored as text, other bytes in base64, null as null, in wire order', () => {
    const headers: Header[] = [
      ['b', Buffer.from('größe "quoted"\n')],
      ['a', Buffer.from([0, 0, 0, 3])],
      ['a', null],
      ['a', Buffer.from([0xff])],
      ['', Buffer.alloc(0)],
    ]
    expect(JSON.parse(encodeHeaders(headers))).toEqual([
      ['b', 'größe "quoted"\n'],
      ['a', { base64: 'AAAAAw==' }],
      ['a', null],
      ['a', { base64: '/w==' }],
      ['', ''],
    ])
  })

  test('no headers are an empty array', () => {
    expect(encodeHeaders([])).toBe('[]')
    expect(decodeHeaders('[]')).toEqual([])
  })

  test('a value that a column holds in full is referred to wherever it occurs', () => {
    const headers: Header[] = [
      ['kafka_dlt-exception-stacktrace', Buffer.from(stacktrace)],
      ['x-exception-stacktrace', Buffer.from(stacktrace)],
    ]
    const json = encodeHeaders(headers, new Map([['error_stacktrace', stacktrace]]))
    expect(JSON.parse(json)).toEqual([
      ['kafka_dlt-exception-stacktrace', { column: 'error_stacktrace' }],
      ['x-exception-stacktrace', { column: 'error_stacktrace' }],
    ])
    expect(decodeHeaders(json, { error_stacktrace: stacktrace, error_message: null })).toEqual(headers)
  })

  test('a value of which a column holds less or more is stored in place', () => {
    for (const column of [stacktrace.slice(0, -1), `${stacktrace}!`]) {
      const json = encodeHeaders([['s', Buffer.from(stacktrace)]], new Map([['error_stacktrace', column]]))
      expect(JSON.parse(json)).toEqual([['s', stacktrace]])
    }
  })

  test.each([100, 65_535, 65_536, 70_000])(
    'of %i bytes, a value that is almost what a column holds is stored in place, byte for byte',
    (bytes) => {
      const text = 'x'.repeat(bytes - 1)
      const stored = (value: Buffer, column: string) =>
        JSON.parse(encodeHeaders([['s', value]], new Map([['error_stacktrace', column]])))[0][1]
      expect(stored(Buffer.from(`${text}y`), `${text}y`)).toEqual({ column: 'error_stacktrace' })
      expect(stored(Buffer.from(`${text}y`), `${text}z`)).toBe(`${text}y`)
      const broken = Buffer.concat([Buffer.from(text), Buffer.from([0xff])])
      expect(stored(broken, `${text}\ufffd`)).toEqual({ base64: broken.toString('base64') })
    },
  )

  test('bytes that are known to be a column’s text are not compared, and refer to it where their name may', () => {
    const [value, other] = [Buffer.from('short'), Buffer.from('short')]
    const headers: Header[] = [
      ['trace', value],
      ['trace', other],
      ['own', value],
    ]
    const known = { value, column: 'error_stacktrace' }
    expect(storedHeaders(headers, undefined, (name) => name !== 'own', known)).toEqual([
      ['trace', { column: 'error_stacktrace' }],
      ['trace', 'short'],
      ['own', 'short'],
    ])
    const inColumns = new Map([['error_stacktrace', stacktrace]])
    expect(storedHeaders([['own', Buffer.from(stacktrace)]], inColumns, () => false)).toEqual([['own', stacktrace]])
  })

  test('a value shorter than 64 bytes is stored in place even if a column holds it', () => {
    for (const [text, stored] of [
      ['x'.repeat(63), 'x'.repeat(63)],
      ['x'.repeat(64), { column: 'error_message' }],
      ['é'.repeat(32), { column: 'error_message' }],
    ] as const) {
      const json = encodeHeaders([['m', Buffer.from(text)]], new Map([['error_message', text]]))
      expect(JSON.parse(json)).toEqual([['m', stored]])
    }
  })

  test('of a pair that repeats is the same for all records, but for a value that a column may hold', () => {
    const [short, long] = ['orders', stacktrace].map(
      (text): Header =>
        Object.assign(['kafka_dlt-exception-stacktrace', Buffer.from(text)] as const, { repeats: true } as const),
    )
    const inColumns = new Map([['error_stacktrace', stacktrace]])
    const [first, second, third] = [
      storedHeaders([short!, long!]),
      storedHeaders([short!, long!], inColumns),
      storedHeaders([short!, long!]),
    ]
    expect(first).toEqual([
      ['kafka_dlt-exception-stacktrace', 'orders'],
      ['kafka_dlt-exception-stacktrace', stacktrace],
    ])
    expect(second[0]).toBe(first[0])
    expect(second[1]).toEqual(['kafka_dlt-exception-stacktrace', { column: 'error_stacktrace' }])
    expect(third).toEqual(first)
  })

  test('names with a meaning in JavaScript or JSON are read back unchanged', () => {
    const headers = ['__proto__', 'constructor', '', '42', 'a\0b', '"', '\ufeff', '\ud800', '🚚'].map(
      (name): Header => [name, Buffer.from(name)],
    )
    expect(decodeHeaders(encodeHeaders(headers))).toEqual(headers)
  })

  test('a byte order mark at the start of a value is kept', () => {
    const headers: Header[] = [['bom', Buffer.from([0xef, 0xbb, 0xbf, 0x61])]]
    expect(decodeHeaders(encodeHeaders(headers))).toEqual(headers)
  })
})

describe('reading stored headers', () => {
  test('those that are stored elsewhere are left out, or asked for where all are needed', () => {
    const json = '[["a","b"],{"framed":["c"]}]'
    expect(parseHeaders(json)).toEqual([['a', 'b']])
    expect(() => decodeHeaders(json)).toThrow('read by dlq.record_headers')
    expect(readHeaders(json)).toBeNull()
  })

  test('a reference to a missing column is refused', () => {
    const json = '[["s",{"column":"error_stacktrace"}]]'
    expect(() => decodeHeaders(json)).toThrow('error_stacktrace')
    expect(() => decodeHeaders(json, { error_stacktrace: null })).toThrow('error_stacktrace')
    expect(() => decodeHeaders('[["s",{"column":"toString"}]]')).toThrow('toString')
    expect(readHeaders(json)).toBeNull()
    expect(readHeaders(json, { error_stacktrace: 'trace' })).toEqual([['s', Buffer.from('trace')]])
  })

  test.each([
    '{}',
    '[1]',
    '[["a"]]',
    '[[1,"b"]]',
    '[["a","b","c"]]',
    '[["a",1]]',
    '[["a",{}]]',
    '[["a",[]]]',
    '[["a",{"base64":1}]]',
  ])('%s is refused, being of another form', (json) => {
    expect(() => decodeHeaders(json)).toThrow()
    expect(readHeaders(json)).toBeNull()
  })
})

describe('encoding and decoding', () => {
  const anyBytes = fc.uint8Array({ maxLength: 100 }).map((array) => Buffer.from(array))
  const anyText = fc.string({ unit: 'binary', maxLength: 100 }).map((text) => Buffer.from(text))
  const longText = fc.string({ unit: 'binary', minLength: 64, maxLength: 80 })
  // Every UTF-16 unit, lone surrogates too.
  const anyName = fc.array(fc.nat({ max: 0xffff }), { maxLength: 8 }).map((units) => String.fromCharCode(...units))

  test('are inverse, byte for byte, whatever the headers and columns', () => {
    const columns = fc.record({ error_message: longText, error_stacktrace: longText })
    const picks = fc.constantFrom('error_message' as const, 'error_stacktrace' as const)
    fc.assert(
      fc.property(
        columns,
        fc.array(fc.tuple(anyName, fc.oneof(anyBytes, anyText, fc.constant(null), picks)), { maxLength: 12 }),
        (columns, drawn) => {
          const headers = drawn.map(
            ([name, value]): Header => [name, typeof value === 'string' ? Buffer.from(columns[value]) : value],
          )
          const json = encodeHeaders(headers, new Map(Object.entries(columns)))
          expect(decodeHeaders(json, columns)).toEqual(headers)
        },
      ),
    )
  })
})
