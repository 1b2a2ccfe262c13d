import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Cursor, decodeCursor, encodeCursor } from './message-cursor.ts'

const cursors = fc.record({
  direction: fc.constantFrom('forward' as const, 'back' as const),
  key: fc.oneof(
    fc.uuid().map((id) => [id]),
    fc.uuid().map((id) => ['2026-02-20 10:30:00.123456+00', id]),
  ),
})

test('a cursor comes back as it was, for the list that it was made for and no other', () => {
  fc.assert(
    fc.property(cursors, (cursor) => {
      const text = encodeCursor(cursor, 'mine')
      expect(text).toMatch(/^[\w-]+$/)
      expect(decodeCursor(text, 'mine')).toEqual(cursor)
      expect(decodeCursor(text, 'yours')).toBe('of another list')
    }),
  )
})

const id = '0190c1f2-0000-7000-8000-00000000000a'
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

test.each([
  ['nothing', ''],
  ['no base64', '%%%'],
  ['no JSON', 'abcd'],
  ['no list', encoded({})],
  ['an unknown direction', encoded(['mine', 'x', id])],
  ['no id', encoded(['mine', 'f'])],
  ['something else in place of the id', encoded(['mine', 'f', "1'; drop table"])],
  ['something else in place of the time', encoded(['mine', 'f', 'now()', id])],
  ['a day that does not exist', encoded(['mine', 'f', '2026-02-31 10:30:00+00', id])],
  ['too many columns', encoded(['mine', 'f', '2026-02-20 10:30:00+00', '2026-02-20 10:30:00+00', id])],
  ['a number', encoded(['mine', 'f', 1])],
  ['too long', 'a'.repeat(10_000)],
])('text that holds %s is no cursor', (_, text) => {
  expect(decodeCursor(text, 'mine')).toBe('invalid')
})

test('any text is refused without an error', () => {
  fc.assert(
    fc.property(fc.string(), (text) => typeof (decodeCursor(text, 'mine') satisfies Cursor | string) === 'string'),
  )
})
