import { expect, test } from 'vitest'
import { decodeHeaders, encodeHeaders } from '../record/header-json.ts'
import { defaultRetryPolicy } from '../retry/retry-policy.ts'
import { applyEdit, type MessageContent } from './edit-message.ts'

const before: MessageContent = {
  ...{ record_key: Buffer.from('k'), record_value: Buffer.from('{"a":1}'), record_headers: '[]', payload: '{"a":1}' },
  ...{ target_topic: null, error_stacktrace: null, order_key: 7n, value_schema: null, decode_state: null, edits: 0 },
}

test('what is given as it is stored is no edit, also of headers that refer to the stack trace', () => {
  const trace = 'at Shop.sell(Shop.java:3), and so on for longer than a reference to it would be'
  const headers = [['trace', Buffer.from(trace)]] as [string, Buffer][]
  const record_headers = encodeHeaders(headers, new Map([['error_stacktrace', trace]]))
  const message = { ...before, error_stacktrace: trace, record_headers }
  expect(decodeHeaders(record_headers, { error_stacktrace: trace })).toEqual(headers)
  expect(record_headers).toContain('{"column":"error_stacktrace"}')
  const same = { key: Buffer.from('k'), value: Buffer.from('{"a":1}'), headers, targetTopic: null }
  expect(applyEdit(message, same, defaultRetryPolicy).fields).toEqual([])
})

test('a message that never was a record is one after an edit, with its payload as the value', () => {
  const reported = { ...before, record_key: null, record_value: null, record_headers: null }
  const { fields, after } = applyEdit(reported, { key: Buffer.from('new') }, defaultRetryPolicy)
  expect([fields, after]).toMatchObject([
    ['key'],
    { record_key: Buffer.from('new'), record_value: Buffer.from('{"a":1}'), record_headers: '[]', order_key: null },
  ])
})

test('headers that say how a value is read change what is stored of it, and others do not', () => {
  const msgpack = { payload: '{"read":"as msgpack"}', value_schema: null, decode_state: 1 }
  const after = (headers: [string, Buffer][]) => applyEdit(before, { headers }, defaultRetryPolicy, () => msgpack).after
  expect(after([['content-type', Buffer.from('application/msgpack')]])).toMatchObject(msgpack)
  expect(after([['trace-id', Buffer.from('1')]])).toMatchObject({ payload: '{"a":1}', decode_state: null })
})

test('the place in the order of a key stays where the key does', () => {
  const { fields, after } = applyEdit(before, { value: Buffer.from('{"a":2}') }, defaultRetryPolicy)
  expect([fields, after]).toMatchObject([['value'], { payload: '{"a":2}', order_key: 7n }])
})
