import { describe, expect, test } from 'vitest'
import { cellFaults, type EditDraft, editRequest, editText, editWords, headerCells } from './edit-draft.ts'

const stored: EditDraft = {
  value: '{"amount":-5}',
  file: null,
  key: { as: 'text', text: 'k' },
  headers: headerCells([
    { name: 'trace', value: 'a', encoding: 'text' },
    { name: 'trace', value: null, encoding: 'text' },
    { name: 'kafka_dlt-original-offset', value: '7', encoding: 'number', base64: 'AAAAAAAAAAc=' },
  ]),
  target: '',
}

describe('what is asked for', () => {
  test('is nothing where nothing differs', () => {
    expect(editRequest(stored, { ...stored, headers: [...stored.headers] })).toEqual({})
  })

  test('is the text as it was typed, and the file instead of it where one was chosen', () => {
    expect(editRequest(stored, { ...stored, value: '{"amount": 5.00}' })).toEqual({
      value: { text: '{"amount": 5.00}' },
    })
    const file = { name: 'a.bin', size: 1, base64: 'AA==' }
    expect(editRequest(stored, { ...stored, value: 'x', file })).toEqual({ value: { base64: 'AA==' } })
  })

  test('is a decoded value as it was typed, with every digit', () => {
    const value = '{"cents": 9007199254740993, "rate": 1.10}'
    const request = editRequest(stored, { ...stored, value }, true)
    expect(editText({ ...request, reason: 'a "ticket"' })).toBe(
      `{"value":{"decoded":${value}},"reason":"a \\"ticket\\""}`,
    )
    expect(editText(request)).toBe(`{"value":{"decoded":${value}}}`)
    expect(editText({ key: null })).toBe('{"key":null}')
    expect(editText({ value: null })).toBe('{"value":null}')
  })

  test('is every header where one changed, with numbers as the bytes that they came as', () => {
    const headers = [...stored.headers.slice(1), { id: 9, name: 'new', as: 'text' as const, text: '' }]
    expect(editRequest(stored, { ...stored, headers })).toEqual({
      headers: [
        { name: 'trace', value: null },
        { name: 'kafka_dlt-original-offset', value: { base64: 'AAAAAAAAAAc=' } },
        { name: 'new', value: { text: '' } },
      ],
    })
    expect(editWords(stored, { ...stored, headers })).toEqual([
      'The header trace is removed.',
      'The header new: “” is added.',
    ])
  })

  test('is another order of the same headers', () => {
    const headers = stored.headers.toReversed()
    expect(editRequest(stored, { ...stored, headers }).headers?.map(({ name }) => name)).toEqual([
      'kafka_dlt-original-offset',
      'trace',
      'trace',
    ])
    expect(editWords(stored, { ...stored, headers })).toEqual(['The headers are in another order.'])
  })

  test('is no key, or another topic, where these were chosen', () => {
    const draft: EditDraft = { ...stored, key: { as: 'null', text: 'k' }, target: ' orders.v2 ' }
    expect(editRequest(stored, draft)).toEqual({ key: null, target_topic: 'orders.v2' })
    expect(editRequest({ ...stored, target: 'orders.v2' }, stored)).toEqual({ target_topic: null })
  })
})

test('base64 that no decoder takes is named', () => {
  const headers = [{ id: 0, name: 'trace', as: 'base64' as const, text: 'no' }]
  expect(cellFaults({ key: { as: 'base64', text: 'AA==' }, headers })).toEqual(['The header trace is no base64.'])
})
