import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { ApiError } from '../http/api-error.ts'
import { bindingOf, decodeCursor, encodeCursor, isSealedCursor, keyParts } from './cursor.ts'
import { createCursorSeal } from './cursor-seal.ts'

const { text, int32, bigint, uuid, time } = keyParts
const id = '0190c1f2-0000-7000-8000-00000000000a'
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** The error's message when a cursor is refused. */
function refusalOf(decode: () => unknown): string | undefined {
  try {
    decode()
  } catch (error) {
    if (error instanceof ApiError) return error.details[0]?.message
    throw error
  }
  return undefined
}

test('a cursor gives its key back for the list that made it, and for no other', () => {
  const keys = fc.oneof(
    fc.tuple(fc.uuid()).map((key) => ({ key, schema: v.strictTuple([uuid]) })),
    fc.uuid().map((id) => ({ key: ['2026-02-20 10:30:00.123456+00', id], schema: v.strictTuple([time, uuid]) })),
    fc
      .tuple(
        fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0')),
        fc.nat(),
      )
      .map((key) => ({ key, schema: v.strictTuple([text, int32]) })),
  )
  fc.assert(
    fc.property(keys, ({ key, schema }) => {
      const cursor = encodeCursor(key, 'mine')
      expect(cursor).toMatch(/^[\w-]+$/)
      expect(decodeCursor<unknown>(cursor, 'mine', schema)).toEqual(key)
      expect(refusalOf(() => decodeCursor<unknown>(cursor, 'yours', schema))).toMatch(/another filter or sort/)
    }),
  )
})

test('a bigint keeps its digits', () => {
  const key = [String(2n ** 59n)]
  expect(decodeCursor(encodeCursor(key, 'mine'), 'mine', v.strictTuple([bigint]))).toEqual([2n ** 59n])
})

test.each(['infinity', '-infinity', '2026-02-20 10:30:00+00', '2026-02-20 10:30:00.1+00'])(
  'the time %s, as PostgreSQL writes it, is given back',
  (at) => expect(decodeCursor(encodeCursor([at], 'mine'), 'mine', v.strictTuple([time]))).toEqual([at]),
)

test('a sealed cursor shows nothing of its key, and is opened by the services with the same secret', () => {
  const seal = createCursorSeal('secret')
  const cursor = encodeCursor([id], 'mine', seal)
  const open = (text: string, by = createCursorSeal('secret')) => decodeCursor(text, 'mine', v.strictTuple([uuid]), by)
  expect([isSealedCursor(cursor), isSealedCursor(encodeCursor([id], 'mine')), isSealedCursor(undefined)]).toEqual([
    ...[true, false, false],
  ])
  expect(Buffer.from(cursor.slice(1), 'base64url').toString('latin1')).not.toContain(id)
  expect(encodeCursor([id], 'mine', seal)).not.toBe(cursor)
  expect(open(cursor)).toEqual([id])
  expect(open(encodeCursor([id], 'mine'))).toEqual([id])
  const changed = `${cursor.slice(0, -2)}${cursor.at(-2) === 'A' ? 'B' : 'A'}${cursor.at(-1)}`
  for (const [text, by] of [
    [cursor, createCursorSeal('another')],
    [cursor, createCursorSeal(undefined)],
    [changed],
    ['_AA'],
  ] as const)
    expect(refusalOf(() => open(text, by))).toMatch(/^invalid cursor/)
  expect(refusalOf(() => decodeCursor(cursor, 'mine', v.strictTuple([uuid])))).toMatch(/^invalid cursor/)
})

describe('a cursor is refused', () => {
  const schema = v.union([v.strictTuple([uuid]), v.strictTuple([time, uuid])])

  test.each([
    ['nothing', ''],
    ['no base64', '%%%'],
    ['no JSON', 'abcd'],
    ['no list', encoded({})],
    ['no key', encoded(['mine'])],
    ['something else in place of the id', encoded(['mine', "1'; drop table"])],
    ['something else in place of the time', encoded(['mine', 'now()', id])],
    ['a day that does not exist', encoded(['mine', '2026-02-31 10:30:00+00', id])],
    ['a year that PostgreSQL does not have', encoded(['mine', '0000-02-20 10:30:00+00', id])],
    ['too many columns', encoded(['mine', '2026-02-20 10:30:00+00', '2026-02-20 10:30:00+00', id])],
    ['a number in place of the id', encoded(['mine', 1])],
    ['more than an id', encoded(['mine', `${id}0`])],
    ['an id behind something', encoded(['mine', `0${id}`])],
    ['more than a time', encoded(['mine', '2026-02-20 10:30:00+00:30', id])],
    ['no time behind infinity', encoded(['mine', 'infinity and more', id])],
    ['other letters than base64 has', `${encodeCursor([id], 'mine')}+`],
    // White space is all that could be too much: parts of keys have bounds of their own.
    ['too many characters', Buffer.from(`${JSON.stringify(['mine', id])}${' '.repeat(3000)}`).toString('base64url')],
  ])('that holds %s', (_, cursor) => {
    expect(refusalOf(() => decodeCursor(cursor, 'mine', schema))).toMatch(/^invalid cursor/)
  })

  test.each([
    ['half of a surrogate pair', ['\ud800', 1]],
    ['NUL', ['a\0b', 1]],
    ['a negative number', ['a', -1]],
    ['a number beyond 32 bits', ['a', 2 ** 31]],
    ['a fraction', ['a', 1.5]],
  ])('whose key holds %s', (_, key) => {
    const cursor = encoded(['mine', ...key])
    expect(refusalOf(() => decodeCursor(cursor, 'mine', v.strictTuple([text, int32])))).toMatch(/^invalid cursor/)
  })

  test.each(['', '1x', 'x1', '-1', '9'.repeat(19)])('whose bigint is %o', (digits) => {
    const cursor = encoded(['mine', digits])
    expect(refusalOf(() => decodeCursor(cursor, 'mine', v.strictTuple([bigint])))).toMatch(/^invalid cursor/)
  })

  test('whatever the text is', () => {
    fc.assert(fc.property(fc.string(), (cursor) => refusalOf(() => decodeCursor(cursor, 'mine', schema)) !== undefined))
  })
})

test('the filter and the sort decide the binding', () => {
  expect(bindingOf('{"a":1}', 'newest')).toBe(bindingOf('{"a":1}', 'newest'))
  expect(bindingOf('{"a":1}', 'newest')).not.toBe(bindingOf('{"a":1}', 'oldest'))
  expect(bindingOf('a', 'b')).not.toBe(bindingOf('ab'))
})
