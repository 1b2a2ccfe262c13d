// What is hidden of JSON that is about messages.

import { hidesAll } from 'dlq-core/domain/masks/create-masks.ts'
import { hiddenMark } from 'dlq-core/domain/masks/mask-json.ts'
import { expect, test } from 'vitest'
import { maskDocument, maskSelection } from './mask-documents.ts'

test('of a selection what it looks for in messages is hidden, and settings of policies are not', () => {
  const filter = { topic: 'orders', key: 'k', payload: '{"iban":"x"}', q: 'x' }
  expect(maskSelection(JSON.stringify({ filter, patch: [{ op: 'remove', path: '/x' }] }))).toEqual({
    value: JSON.stringify({
      filter: { topic: 'orders', key: hiddenMark, payload: JSON.stringify(hiddenMark), q: hiddenMark },
      patch: null,
    }),
    hidden: ['/filter/key', '/filter/payload', '/filter/q', '/patch'],
  })
  expect(maskSelection('{"payload":"derived","key":null}').hidden).toEqual([])
})

test('who sees no text still sees statuses and names, and nothing that people write', () => {
  expect(maskDocument({ status: 'DEAD', note: 'card 4111', list: [{ reason: 'card 4111' }] }, hidesAll)).toEqual({
    value: { status: 'DEAD', note: hiddenMark, list: [{ reason: hiddenMark }] },
    hidden: ['/note', '/list/*/reason'],
  })
})
