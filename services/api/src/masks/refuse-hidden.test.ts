// Which parts of a message may be replaced, or fetched as they are stored, by who sees it with a mask.

import type { Mask } from 'dlq-core/domain/masks/create-masks.ts'
import { compileMaskPaths, parseMaskPath } from 'dlq-core/domain/masks/mask-paths.ts'
import { expect, test } from 'vitest'
import { refusePart } from './refuse-hidden.ts'

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
