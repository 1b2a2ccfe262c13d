import { toJsonSchema } from '@valibot/to-json-schema'
import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { captureGlob } from '../failure/topic-globs.ts'
import { statuses } from '../retry/message-state.ts'
import {
  base64Keys,
  canonicalFilter,
  jsonKeyOf,
  keysBytes,
  likePattern,
  type MessageFilter,
  messageFilterSchema,
  topicColumn,
} from './message-filter.ts'

const parse = (input: unknown) => v.parse(messageFilterSchema, input)
const faults = (input: unknown) => {
  const { issues } = v.safeParse(messageFilterSchema, input)
  return Object.fromEntries((issues ?? []).map((issue) => [v.getDotPath(issue), issue.message]))
}

describe('a filter', () => {
  test('means the same as query parameters and as JSON', () => {
    const asQuery = {
      status: 'PENDING,DEAD',
      partition: '3',
      offset_from: '007',
      retry_count_max: '2',
      payload: '{"order_id":"123"}',
      archived: 'true',
    }
    const asJson = {
      status: ['DEAD', 'PENDING'],
      partition: 3,
      offset_from: 7,
      retry_count_max: 2,
      payload: { order_id: '123' },
      archived: true,
    }
    expect(parse(asQuery)).toEqual(parse(asJson))
    expect(canonicalFilter(parse(asQuery))).toBe(canonicalFilter(parse(asJson)))
  })

  test('documents every offset that it takes', () => {
    const { properties } = toJsonSchema(messageFilterSchema, { typeMode: 'input', errorMode: 'ignore' })
    const { anyOf } = properties!.offset_to as { anyOf: { type: string; pattern?: string }[] }
    const greatest = '9223372036854775807'
    expect(greatest).toMatch(new RegExp(anyOf.find(({ type }) => type === 'string')!.pattern!))
    expect(parse({ offset_to: greatest })).toEqual({ offset_to: greatest })
  })

  test('takes a status that is repeated, once', () => {
    expect(parse({ status: ['DEAD', 'DEAD'] })).toEqual({ status: ['DEAD'] })
  })

  test('takes times of any zone, a date, and a plus that was not escaped', () => {
    const { from } = parse({ from: '2026-02-20T11:30:00.000+01:00' })
    expect(from).toBe('2026-02-20T10:30:00.000Z')
    expect(parse({ from: '2026-02-20T11:30:00.000 01:00' })).toEqual({ from })
    expect(parse({ from: '2026-02-20' })).toEqual({ from: '2026-02-20T00:00:00.000Z' })
  })

  test('refuses times that PostgreSQL does not take as JavaScript writes them', () => {
    const beyond = 'must be within the years 1 to 9999 (UTC)'
    expect(faults({ from: '2026-01-01', to: '9999-12-31T23:59:59-01:00' })).toEqual({ to: beyond })
    expect(faults({ failed_from: '0001-01-01T00:59:59+01:00' })).toEqual({ failed_from: beyond })
    const widest = { from: '0001-01-01T00:00:00.000Z', to: '9999-12-31T23:59:59.999Z' }
    expect(parse({ from: '0001-01-01T01:00+01:00', to: '9999-12-31T22:59:59.999-01:00' })).toEqual(widest)
  })

  test('keeps numbers in a payload that JavaScript would round', () => {
    expect(parse({ payload: '{"n":12345678901234567890.12}' })).toEqual({ payload: '{"n":12345678901234567890.12}' })
  })

  test('reports every faulty field once', () => {
    const input = {
      status: 'LOST',
      topic: 'a\0b',
      group_id: 'no-uuid',
      partition: '-1',
      offset_from: '9223372036854775808',
      offset_to: 'x',
      key: 'base64:?',
      from: 'yesterday',
      to: '2026-13-01',
      arrived_from: '2026-02-30T00:00:00Z',
      arrived_to: 'tomorrow',
      failed_from: '0000-01-01',
      retry_count_min: '1.5',
      q: '',
      payload: '{"a":"\\u0000"}',
      archived: 'maybe',
      colour: 'red',
    }
    expect(Object.keys(faults(input)).toSorted()).toEqual(Object.keys(input).toSorted())
    const words = { partition: 'must be a whole number from 0 to 2147483647', offset_to: 'must be an offset' }
    expect(faults(input)).toMatchObject(words)
    expect(faults({ partition: 'first' })).toEqual({ partition: words.partition })
  })

  test('refuses a range that ends before it begins, at its end', () => {
    const upsideDown = {
      offset_from: 3,
      offset_to: 2,
      from: '2026-02-02',
      to: '2026-02-01',
      arrived_from: '2026-02-02',
      arrived_to: '2026-02-01',
      failed_from: '2026-02-02',
      failed_to: '2026-02-02',
      retry_count_min: 3,
      retry_count_max: 2,
    }
    expect(faults(upsideDown)).toEqual({
      offset_to: 'must be at least offset_from',
      to: 'must come after from',
      arrived_to: 'must come after arrived_from',
      failed_to: 'must come after failed_from',
      retry_count_max: 'must be at least retry_count_min',
    })
    expect(faults({ offset_from: 2, offset_to: 2, retry_count_min: 0, retry_count_max: 0 })).toEqual({})
    // As text "10" would come before "9".
    expect(faults({ offset_from: '9', offset_to: '10' })).toEqual({})
  })

  const someFilter = fc.record(
    {
      status: fc.subarray([...statuses], { minLength: 1 }),
      topic: fc.stringMatching(/^[a-z.*?]{1,20}$/),
      q: fc.string({ minLength: 1, maxLength: 20 }).filter((text) => !text.includes('\0') && text.isWellFormed()),
      offset_from: fc.bigInt(0n, 2n ** 63n - 1n).map(String),
      from: fc
        .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
        .map((d) => d.toISOString()),
      payload: fc.json({ maxDepth: 2 }).filter((json) => !/\\u0000/.test(json) && json.isWellFormed()),
      archived: fc.boolean(),
    },
    { requiredKeys: [] },
  )

  test('is parsed to itself again, also from its JSON', () => {
    fc.assert(
      fc.property(someFilter, (input) => {
        const parsed = v.safeParse(messageFilterSchema, input)
        fc.pre(parsed.success)
        expect(parse(JSON.parse(JSON.stringify(parsed.output)))).toEqual(parsed.output)
      }),
    )
  })

  test('has one canonical form in any order of its fields, and another one for another filter', () => {
    fc.assert(
      fc.property(someFilter, someFilter, (a, b) => {
        const reversed = Object.fromEntries(Object.entries(a).toReversed()) as MessageFilter
        expect(canonicalFilter(reversed)).toBe(canonicalFilter(a as MessageFilter))
        const [one, other] = [a, b].map((filter) => JSON.stringify({ ...filter, archived: filter.archived ?? false }))
        if (canonicalFilter(a as MessageFilter) === canonicalFilter(b as MessageFilter)) {
          expect(JSON.parse(one!)).toEqual(JSON.parse(other!))
        }
      }),
    )
    expect(canonicalFilter({ archived: false })).toBe(canonicalFilter({}))
  })
})

test('a key is its text, or the bytes of its base64', () => {
  expect(keysBytes('customer-1')).toEqual([Buffer.from('customer-1')])
  expect(keysBytes('base64:AAH/')).toEqual([Buffer.from([0, 1, 255])])
  expect(keysBytes('base64:AAH_')).toEqual([Buffer.from([0, 1, 255])])
  const several = [Buffer.from([0, 1]), Buffer.from('k')]
  expect(keysBytes(base64Keys(several))).toEqual(several)
  expect(jsonKeyOf('{"json": {"id": 7}}')).toBe('{"json": {"id": 7}}')
  for (const text of ['{"id":7}', '{"json":1,"id":7}', '{"json":', 'json']) expect(jsonKeyOf(text)).toBeNull()
})

test.each([
  ['orders', false, 'original_topic'],
  ['orders', true, 'dlq_topic'],
  ['orders.*', true, 'original_topic'],
  ['orders*', false, 'original_topic'],
  ['*.dlq.v1', false, 'dlq_topic'],
  ['orders-?.DLT', false, 'dlq_topic'],
  ['*', false, 'original_topic'],
])('the topic %s, a known DLQ topic: %s, means the %s', (topic, known, column) => {
  expect(topicColumn(topic, known)).toBe(column)
})

test('a LIKE pattern matches what the glob matches', () => {
  const glob = fc
    .array(fc.constantFrom('a', 'b', '_', '%', '\\', '.', '*', '?'), { maxLength: 6 })
    .map((c) => c.join(''))
  const topic = fc.array(fc.constantFrom('a', 'b', '_', '%', '\\', '.'), { maxLength: 6 }).map((c) => c.join(''))
  fc.assert(
    fc.property(glob, topic, (glob, topic) => likes(likePattern(glob), topic) === (captureGlob(glob, topic) !== null)),
  )
})

/** LIKE, as https://www.postgresql.org/docs/current/functions-matching.html describes it. */
function likes(pattern: string, text: string): boolean {
  const regex = pattern.replace(/\\(.)|%|_|[^\\%_]/gs, (part, escaped) =>
    escaped !== undefined ? RegExp.escape(escaped) : part === '%' ? '.*' : part === '_' ? '.' : RegExp.escape(part),
  )
  return new RegExp(`^${regex}$`, 's').test(text)
}
