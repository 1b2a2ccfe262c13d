// What becomes of each column that holds content, by what a mask hides.

import type { Mask } from 'dlq-core/domain/masks/create-masks.ts'
import { hiddenMark } from 'dlq-core/domain/masks/mask-json.ts'
import { compileMaskPaths, parseMaskPath } from 'dlq-core/domain/masks/mask-paths.ts'
import { createKeySeal } from 'dlq-core/domain/masks/seal-key.ts'
import { expect, test } from 'vitest'
import { shown } from './shown.ts'
import type { Sight } from './sight.ts'

const topics = { original_topic: 'orders', dlq_topic: null }
const content = 'card 4111'
const bytes = Buffer.from(content)
const mark = Buffer.from(hiddenMark)

function sightWith(hides: Partial<Mask>, seal: Sight['seal'] = null): Sight {
  const mask: Mask = { paths: null, key: 'show', hidesHeader: null, text: null, ...hides }
  return { maskOf: () => mask, anywhere: mask, seal, unmasked: null }
}

test.each(
  ['error_message', 'error_stacktrace', 'error', 'title', 'message', 'reason', 'status_reason', 'detail', 'note'].map(
    (column) => [column, `/${column}`],
  ),
)('a mask of texts hides what it finds in %s', (column, pointer) => {
  const sight = sightWith({ text: (text) => text.replace('4111', hiddenMark) })
  expect(shown({ ...topics, [column]: content }, sight)).toEqual({
    ...topics,
    ...{ [column]: `card ${hiddenMark}`, hidden: [pointer] },
  })
  expect(shown({ ...topics, [column]: 'no card' }, sight)).toEqual({ ...topics, [column]: 'no card' })
})

const ofKey = { record_key: bytes, decoded_key: '"card 4111"', key_bytes: 9 }
const ofValue = { payload: '{"iban":"4111","a":1}', unprojected_value: bytes, value_bytes: 9 }
const previewed = { key_start: bytes, value_start: bytes, value_bytes: 9 }

test('a mask of the key hides it in every form, and its size, and leaves the value', () => {
  expect(shown({ ...topics, ...ofKey, ...ofValue, previewed }, sightWith({ key: 'hide' }))).toEqual({
    ...{ ...topics, ...ofValue, record_key: mark, decoded_key: JSON.stringify(hiddenMark), key_bytes: null },
    ...{ previewed: { ...previewed, key_start: mark }, hidden: ['/key', '/decoded_key', '/key_bytes', '/key'] },
  })
})

test('a pseudonym stands for a key that is short enough to have one', () => {
  const sight = sightWith({ key: 'pseudonym' }, createKeySeal('a secret of at least thirty-two characters'))
  const pseudonym = shown({ ...topics, record_key: bytes }, sight).record_key
  expect(sight.seal!.open(String(pseudonym))).toEqual(bytes)
  expect(shown({ ...topics, record_key: Buffer.alloc(100_000) }, sight).record_key).toEqual(mark)
})

test('a mask of the value hides its places, its bytes, its beginning and its size, and leaves the key', () => {
  const sight = sightWith({ paths: compileMaskPaths({ hide: [parseMaskPath('/iban')!], shows: [] }) })
  const failed = { state: 'failed', problem: content }
  const hidden = ['/value_bytes', '/preview', '/value_bytes', '/decoding/problem', '/payload/iban']
  expect(shown({ ...topics, ...ofKey, ...ofValue, previewed, decoding: failed }, sight)).toEqual({
    ...{ ...topics, ...ofKey, payload: `{"iban":"${hiddenMark}","a":1}`, unprojected_value: null, value_bytes: null },
    ...{
      previewed: { ...previewed, value_start: mark, value_bytes: null },
      decoding: { ...failed, problem: hiddenMark },
    },
    hidden,
  })
  // Nobody can say what is in a value without a JSON form.
  expect(shown({ ...topics, payload: null, unprojected_value: bytes }, sight)).toMatchObject({
    ...{ payload: JSON.stringify(hiddenMark), unprojected_value: null, hidden: ['/payload'] },
  })
})
