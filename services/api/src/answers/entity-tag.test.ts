import { expect, test } from 'vitest'
import { requireConditions, tagOf } from './entity-tag.ts'

const etag = tagOf({ a: 1 })
const conditions = (headers: Parameters<typeof requireConditions>[0], of: string | null) => () =>
  requireConditions(headers, of, 'the policy')

test('a tag is quoted, and another for another value', () => {
  expect(etag).toMatch(/^"[\w-]{22}"$/)
  expect(tagOf({ a: 2 })).not.toBe(etag)
})

test.each([undefined, etag, ' * ', `"other", ${etag}`])('what is there may be changed by who has read %s', (ifMatch) =>
  expect(conditions({ 'if-match': ifMatch }, etag)).not.toThrow(),
)

test.each<[string, string | null]>([
  ['"other"', etag],
  [`W/${etag}`, etag],
  [etag, null],
  ['*', null],
])('with If-Match: %s, what has the tag %s is not changed', (ifMatch, of) => {
  expect(conditions({ 'if-match': ifMatch }, of)).toThrow('the policy has changed since it was read')
})

test('who says that it is new makes no change where it is there', () => {
  expect(conditions({ 'if-none-match': '*' }, null)).not.toThrow()
  expect(conditions({ 'if-none-match': '*' }, etag)).toThrow('the policy exists by now')
})
