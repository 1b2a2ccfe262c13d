// Our reader and writer beside avsc's, which reads and writes the same bytes.

import avsc from 'avsc'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PayloadFault } from '../payload-fault.ts'
import { anyBytes } from '../test-bytes.ts'
import { parseAvroSchema } from './avro-schema.ts'
import { compileAvroReader } from './read-avro.ts'
import { compileAvroWriter } from './write-avro.ts'

/** A schema, and values of it: as avsc takes them, and as the JSON text that we show. */
type Typed = { schema: unknown; values: fc.Arbitrary<{ avsc: unknown; json: string }> }

const longs = avsc.types.LongType.__with({
  fromBuffer: (buffer: Buffer) => buffer.readBigInt64LE(),
  toBuffer(value: bigint) {
    const buffer = Buffer.alloc(8)
    buffer.writeBigInt64LE(value)
    return buffer
  },
  fromJSON: BigInt,
  toJSON: Number,
  isValid: (value: unknown) => typeof value === 'bigint',
  compare: (a: bigint, b: bigint) => (a === b ? 0 : a < b ? -1 : 1),
})

const same = <Value>(values: fc.Arbitrary<Value>) =>
  values.map((value) => ({ avsc: value, json: JSON.stringify(value) }))
const text = fc.string({ unit: 'binary' })
const double = fc.double({ noNaN: true, noDefaultInfinity: true })

const primitive = fc.constantFrom<Typed>(
  { schema: 'null', values: fc.constant({ avsc: null, json: 'null' }) },
  { schema: 'boolean', values: same(fc.boolean()) },
  { schema: 'int', values: same(fc.integer()) },
  {
    schema: 'long',
    values: fc
      .bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
      .map((value) => ({ avsc: value, json: String(value) })),
  },
  {
    schema: 'double',
    values: double.map((value) => ({ avsc: value, json: Object.is(value, -0) ? '-0' : String(value) })),
  },
  { schema: 'string', values: same(text) },
  {
    schema: 'bytes',
    values: fc.uint8Array().map((bytes) => ({
      avsc: Buffer.from(bytes),
      json: JSON.stringify(Buffer.from(bytes).toString('base64')),
    })),
  },
)

const names: string[] = []
const name = () => `N${names.push('')}`

const fieldName = fc.constantFrom('a', 'b_1', 'ordersByCustomer', 'toString', 'c')

/** Types in one another; those with names get one of their own. */
const { typed } = fc.letrec<{ typed: Typed }>((tie) => {
  const inner = tie('typed')
  const array = inner.map(
    ({ schema, values }): Typed => ({
      schema: { type: 'array', items: schema },
      values: fc.array(values, { maxLength: 4 }).map((items) => ({
        avsc: items.map((item) => item.avsc),
        json: `[${items.map(({ json }) => json).join(',')}]`,
      })),
    }),
  )
  const map = inner.map(
    ({ schema, values }): Typed => ({
      schema: { type: 'map', values: schema },
      values: fc
        .uniqueArray(
          fc.tuple(
            text.filter((key) => !/^\d+$|^__proto__$/.test(key)),
            values,
          ),
          {
            maxLength: 3,
            selector: ([key]) => key,
          },
        )
        .map((entries) => ({
          avsc: Object.fromEntries(entries.map(([key, item]) => [key, item.avsc])),
          json: `{${entries.map(([key, { json }]) => `${JSON.stringify(key)}:${json}`).join(',')}}`,
        })),
    }),
  )
  const optional = inner
    .filter(({ schema }) => schema !== 'null' && !Array.isArray(schema))
    .map(
      ({ schema, values }): Typed => ({
        schema: ['null', schema],
        values: fc
          .option(values, { nil: null })
          .map((value) =>
            value === null
              ? { avsc: null, json: 'null' }
              : { avsc: { [branchOf(schema)]: value.avsc }, json: value.json },
          ),
      }),
    )
  const union = fc.constant<Typed>({
    schema: ['int', 'string', 'null'],
    values: fc.oneof(
      fc.integer().map((value) => ({ avsc: { int: value }, json: `{"int":${value}}` })),
      text.map((value) => ({ avsc: { string: value }, json: `{"string":${JSON.stringify(value)}}` })),
      fc.constant({ avsc: null, json: 'null' }),
    ),
  })
  const enumeration = fc.constant(null).map(
    (): Typed => ({
      schema: { type: 'enum', name: name(), symbols: ['OPEN', 'SHUT'] },
      values: same(fc.constantFrom('OPEN', 'SHUT')),
    }),
  )
  const fixed = fc.constant(null).map(
    (): Typed => ({
      schema: { type: 'fixed', name: name(), size: 5 },
      values: fc.uint8Array({ minLength: 5, maxLength: 5 }).map((bytes) => ({
        avsc: Buffer.from(bytes),
        json: JSON.stringify(Buffer.from(bytes).toString('base64')),
      })),
    }),
  )
  const record = fc.uniqueArray(fc.tuple(fieldName, inner), { maxLength: 4, selector: ([key]) => key }).map(
    (fields): Typed => ({
      schema: {
        type: 'record',
        name: name(),
        fields: fields.map(([key, { schema }]) => ({ name: key, type: schema })),
      },
      values: fc.tuple(...fields.map(([, { values }]) => values)).map((values) => ({
        avsc: Object.fromEntries(fields.map(([key], at) => [key, values[at]!.avsc])),
        json: `{${fields.map(([key], at) => `${JSON.stringify(key)}:${values[at]!.json}`).join(',')}}`,
      })),
    }),
  )
  return {
    typed: fc.oneof({ maxDepth: 4 }, primitive, enumeration, fixed, union, array, map, optional, record),
  }
})

function branchOf(schema: unknown): string {
  const { type, name } = schema as { type?: string; name?: string }
  return typeof schema === 'string' ? schema : (name ?? type!)
}

const cases = typed.chain(({ schema, values }) => fc.tuple(fc.constant(schema), values))

test('a value that avsc wrote is read as its JSON, and written to the same bytes', () => {
  fc.assert(
    fc.property(cases, ([schema, value]) => {
      const bytes = avsc.Type.forSchema(schema as avsc.Schema, {
        wrapUnions: true,
        registry: { long: longs },
      }).toBuffer(value.avsc)
      const type = parseAvroSchema(JSON.stringify(schema))
      expect(compileAvroReader(type)(bytes)).toBe(value.json)
      expect(compileAvroWriter(type)(value.json)).toEqual(bytes)
    }),
    { numRuns: 1000 },
  )
})

test('a block of another size than it says, and a long of more than 64 bits, are faults', () => {
  const { read } = codecOf({ type: 'array', items: 'int' })
  // Minus one item, of one byte or of two; then the last block.
  expect(read(Buffer.from([1, 2, 14, 0]))).toBe('[7]')
  expect(() => read(Buffer.from([1, 4, 14, 0]))).toThrow(PayloadFault)
  const long = (last: number) => codecOf('long').read(Buffer.from([...Buffer.alloc(9, 0xff), last]))
  expect(long(1)).toBe('-9223372036854775808')
  expect(() => long(2)).toThrow(PayloadFault)
})

test('any bytes are a value or a fault, and a value that is written again reads the same', () => {
  fc.assert(
    fc.property(cases, anyBytes(), ([schema], bytes) => {
      const type = parseAvroSchema(JSON.stringify(schema))
      let text: string
      try {
        text = compileAvroReader(type)(bytes)
      } catch (error) {
        expect(error).toBeInstanceOf(PayloadFault)
        return
      }
      const shown = JSON.stringify(JSON.parse(text))
      if (text.includes('�')) return
      expect(JSON.stringify(JSON.parse(compileAvroReader(type)(compileAvroWriter(type)(text))))).toBe(shown)
    }),
    { numRuns: 1000 },
  )
})

const codecOf = (schema: unknown) => {
  const type = parseAvroSchema(JSON.stringify(schema))
  return { read: compileAvroReader(type), write: compileAvroWriter(type) }
}

test('a float is shown with as few digits as it takes', () => {
  const { read, write } = codecOf('float')
  fc.assert(
    fc.property(fc.float({ noNaN: true }), (value) => {
      const bytes = Buffer.alloc(4)
      bytes.writeFloatLE(value)
      expect(write(read(bytes))).toEqual(bytes)
    }),
  )
  const bytes = Buffer.alloc(4)
  bytes.writeFloatLE(40.58)
  expect(read(bytes)).toBe('40.58')
})

describe('a logical type', () => {
  test.each([
    [{ type: 'int', logicalType: 'date' }, '"2026-02-20"', '20504'],
    [{ type: 'int', logicalType: 'date' }, '"0000-01-01"', '-719528'],
    [{ type: 'int', logicalType: 'time-millis' }, '"10:30:00.007"', '37800007'],
    [{ type: 'long', logicalType: 'time-micros' }, '"10:30:00.000007"', '37800000007'],
    [{ type: 'long', logicalType: 'timestamp-millis' }, '"1969-12-31T23:59:59.999Z"', '-1'],
    [{ type: 'long', logicalType: 'timestamp-micros' }, '"1969-12-31T23:59:59.999999Z"', '-1'],
    [{ type: 'long', logicalType: 'timestamp-nanos' }, '"2026-02-20T10:30:00.123456789Z"', '1771583400123456789'],
    [{ type: 'long', logicalType: 'local-timestamp-micros' }, '"2026-02-20T10:30:00.123456"', '1771583400123456'],
  ])('%j is shown as %s, and its number is taken too', (schema, shown, number) => {
    const { read, write } = codecOf(schema)
    expect(write(shown)).toEqual(write(number))
    expect(read(write(shown))).toBe(shown)
  })

  test('of a time that ISO 8601 cannot say is shown as the number', () => {
    const { read, write } = codecOf({ type: 'long', logicalType: 'timestamp-millis' })
    expect(read(write('9223372036854775807'))).toBe('9223372036854775807')
    expect(read(write('253402300800000'))).toBe('253402300800000')
    const date = codecOf({ type: 'int', logicalType: 'date' })
    expect(date.read(date.write('2147483647'))).toBe('2147483647')
  })

  test('refuses a day that does not exist, and digits that its type cannot hold', () => {
    const { write } = codecOf({ type: 'long', logicalType: 'timestamp-millis' })
    expect(() => write('"2026-02-30T00:00:00.000Z"')).toThrow('the value must be a time such as')
    expect(() => write('"2026-02-20T00:00:00.0001Z"')).toThrow(PayloadFault)
    expect(() => write('"2026-02-20T00:00:00.000"')).toThrow(PayloadFault)
  })

  test('decimal is shown with its digits, and written in as few bytes as Java writes', () => {
    const { read, write } = codecOf({ type: 'bytes', logicalType: 'decimal', precision: 10, scale: 2 })
    expect(read(Buffer.from([4, 0x0f, 0xda]))).toBe('"40.58"')
    expect(write('"40.58"')).toEqual(Buffer.from([4, 0x0f, 0xda]))
    // The least number of a byte needs no second one for its sign.
    expect(write('"-1.28"')).toEqual(Buffer.from([2, 0x80]))
    expect(write('"1.28"')).toEqual(Buffer.from([4, 0, 0x80]))
    fc.assert(
      fc.property(fc.bigInt(), (unscaled) => {
        const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(3, '0')
        const shown = `${unscaled < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
        const bytes = write(JSON.stringify(shown))
        expect(read(bytes)).toBe(JSON.stringify(shown))
        // As BigInteger.toByteArray: the sign is in the first bit, and no byte could be left out.
        const [first, second] = bytes.subarray(bytes.length > 128 ? 2 : 1)
        if (second !== undefined)
          expect((first === 0 && second < 0x80) || (first === 0xff && second >= 0x80)).toBe(false)
      }),
    )
  })

  test('decimal of fixed bytes carries its sign through them', () => {
    const { read, write } = codecOf({
      type: 'fixed',
      name: 'D',
      size: 4,
      logicalType: 'decimal',
      precision: 9,
      scale: 1,
    })
    expect(write('"-1.5"')).toEqual(Buffer.from([0xff, 0xff, 0xff, 0xf1]))
    expect(read(Buffer.from([0xff, 0xff, 0xff, 0xf1]))).toBe('"-1.5"')
    expect(() => write('"999999999999.9"')).toThrow(PayloadFault)
  })

  test('that does not fit its type counts for nothing', () => {
    expect(codecOf({ type: 'string', logicalType: 'date' }).read(Buffer.from('\u0002x'))).toBe('"x"')
    expect(codecOf({ type: 'bytes', logicalType: 'decimal' }).read(Buffer.from('\u0002x'))).toBe('"eA=="')
  })
})

describe('the writer', () => {
  const { write } = codecOf({
    type: 'record',
    name: 'acme.Order',
    fields: [
      { name: 'id', type: 'long' },
      { name: 'lines', type: { type: 'array', items: { type: 'map', values: 'int' } } },
    ],
  })

  test.each([
    ['{"id":1}', '/lines of acme.Order is missing'],
    ['{"id":1,"lines":[],"total":2}', '/total is no field of acme.Order'],
    ['{"id":9223372036854775808,"lines":[]}', '/id must be an integer of 64 bits'],
    ['{"id":1.0,"lines":[]}', '/id must be an integer of 64 bits'],
    ['{"id":1,"lines":[{"a/b":"x"}]}', '/lines/0/a~1b must be an integer of 32 bits'],
    ['[]', 'the value must be an object'],
    ['7', 'the value must be an object'],
  ])('refuses %s: %s', (json, problem) => {
    expect(() => write(json)).toThrow(new PayloadFault(problem))
  })

  test.each([
    ['float', '1e39', 'the value must be a float, or "NaN", "Infinity" or "-Infinity"'],
    ['string', '"\\ud800"', 'the value must be text'],
    ['bytes', '"eA"', 'the value must be base64'],
    [['null', 'int', 'string'], '{"null":null}', 'the value must be one of null, {"int": …}, {"string": …}'],
  ])('refuses what %j cannot hold: %s', (schema, json, problem) => {
    expect(() => codecOf(schema).write(json)).toThrow(new PayloadFault(problem))
  })

  test('keeps every digit of a long', () => {
    const { read, write } = codecOf('long')
    expect(read(write('-9223372036854775808'))).toBe('-9223372036854775808')
  })

  test('takes the field __proto__ as a field', () => {
    const schema = {
      type: 'record',
      name: 'R',
      fields: [
        { name: '__proto__', type: 'int' },
        { name: 'toString', type: 'int' },
      ],
    }
    const { read, write } = codecOf(schema)
    expect(read(write('{"__proto__":1,"toString":2}'))).toBe('{"__proto__":1,"toString":2}')
    expect(() => write('{"__proto__":1}')).toThrow('/toString of R is missing')
  })
})

describe('a schema', () => {
  test('finds types by their namespace, in references too, and may hold itself', () => {
    const money = '{"type":"record","name":"Money","namespace":"acme","fields":[{"name":"cents","type":"long"}]}'
    const order =
      '{"type":"record","name":"acme.Order","fields":[{"name":"total","type":"Money"},{"name":"before","type":["null","Order"]}]}'
    const read = compileAvroReader(parseAvroSchema(order, [money]))
    expect(read(Buffer.from([2, 2, 4, 0]))).toBe('{"total":{"cents":1},"before":{"total":{"cents":2},"before":null}}')
  })

  test.each([
    ['{', 'the schema is not JSON'],
    ['"Order"', 'the schema has no type Order'],
    ['["int",["null"]]', 'the schema has a union within a union'],
    ['["int","int"]', 'the schema has a union with two branches of one name'],
    ['{"type":"enum","name":"E"}', 'the schema has an enum without symbols'],
    ['{"type":"fixed","name":"F","size":-1}', 'the schema has a fixed type without a size'],
    [
      '{"type":"record","name":"R","fields":[{"name":"a","type":"int"},{"name":"a","type":"int"}]}',
      'a name of its own',
    ],
    ['{"type":"toString"}', 'the schema has no type toString'],
    ['[null]', 'the schema has a type that is no type'],
  ])('%s is refused: %s', (schema, problem) => {
    expect(() => parseAvroSchema(schema)).toThrow(problem)
    expect(() => parseAvroSchema(schema)).toThrow(PayloadFault)
  })
})
