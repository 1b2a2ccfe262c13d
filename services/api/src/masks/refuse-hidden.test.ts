// Which parts of a message may be replaced, or fetched as they are stored, by who sees it with a mask.

import type { Mask } from 'dlq-core/domain/masks/create-masks.ts'
import { compileMaskPaths, parseMaskPath } from 'dlq-core/domain/masks/mask-paths.ts'
import { createKeySeal } from 'dlq-core/domain/masks/seal-key.ts'
import { expect, test } from 'vitest'
import { allowedFilter, refusePart } from './refuse-hidden.ts'
import { sightOf } from './sight.ts'

const nothing: Mask = { paths: null, key: 'show', hidesHeader: null, text: null }
const parts = ['key', 'value', 'headers'] as const

test.each([
  ['nothing', {}, []],
  [
    'a place of the value',
    { paths: compileMaskPaths({ hide: [parseMaskPath('/iban')!], shows: [] }) },
    ['value', 'headers'],
  ],
  ['the key', { key: 'hide' }, ['key', 'headers']],
  ['the key, and shows its pseudonym', { key: 'pseudonym' }, ['key', 'headers']],
  ['a header', { hidesHeader: () => true }, ['headers']],
  ['texts of errors', { text: () => '' }, ['headers']],
] satisfies [string, Partial<Mask>, string[]][])(
  'a mask that hides %s refuses what may hold it',
  (_, hides, refused) => {
    const isRefused = (part: (typeof parts)[number]) => {
      try {
        refusePart(part, { ...nothing, ...(hides as Partial<Mask>) })
        return false
      } catch {
        return true
      }
    }
    expect(parts.filter(isRefused)).toEqual(refused)
  },
)

test('a pseudonym is a filter of who is shown pseudonyms, and not of who is shown no key', () => {
  const seal = createKeySeal('a secret of at least thirty-two characters')
  const [key, value] = [seal.seal(Buffer.from('k')), Buffer.from('k').toString('base64')]
  const filtered = (keyMask: Mask['key']) =>
    allowedFilter({ key }, { maskOf: () => null, anywhere: { ...nothing, key: keyMask }, seal, unmasked: null })
  expect(filtered('pseudonym')).toEqual({ key: `base64:${value}` })
  expect(() => filtered('hide')).toThrow('masks hide keys')
})

test('who sees no payloads is refused to see behind masks, also where there are none', () => {
  expect(() => sightOf(null, { payloads: 'none' }, true)).toThrow('unmask')
  expect(sightOf(null, { payloads: 'none' }, false).anywhere).not.toBeNull()
  expect(sightOf(null, { payloads: 'masked' }, true).anywhere).toBeNull()
})
