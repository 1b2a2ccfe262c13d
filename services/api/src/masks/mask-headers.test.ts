// What a mask hides of headers: those that it names, frameworks' copies of key and value, and texts of failures.

import type { Mask } from 'dlq-core/domain/masks/create-masks.ts'
import { hiddenMark } from 'dlq-core/domain/masks/mask-json.ts'
import { compileMaskPaths, parseMaskPath } from 'dlq-core/domain/masks/mask-paths.ts'
import { expect, test } from 'vitest'
import { maskStoredHeaders } from './mask-headers.ts'

const nothing: Mask = { paths: null, key: 'show', hidesHeader: null, text: null }
const copies = [
  ['original_key', 'k'],
  ['source_key', 'k'],
  ['springDeserializerExceptionKey', { base64: 'aw==' }],
  ['springDeserializerExceptionValue', { base64: 'dg==' }],
  ['deserialization-failure-data', 'kv'],
]
const others = [
  ['kafka_dlt-exception-message', 'card 4111'],
  ['kafka_dlt-exception-stacktrace', { column: 'error_stacktrace' }],
  ['kafka_dlt-original-offset', { base64: 'AAAAAAAAAAc=' }],
  ['kafka_dlt-exception-cause-fqcn', { base64: 'AAAAAAAAAAAAAAAAAAAA' }],
  ['tenant', 'card 4111'],
  ['empty', null],
]
const hides: [string, Partial<Mask>, string[]][] = [
  [
    'places of the value',
    { paths: compileMaskPaths({ hide: [parseMaskPath('/iban')!], shows: [] }) },
    ['springDeserializerExceptionKey', 'springDeserializerExceptionValue', 'deserialization-failure-data'],
  ],
  [
    'the key',
    { key: 'pseudonym' },
    ['original_key', 'source_key', 'springDeserializerExceptionKey', 'deserialization-failure-data'],
  ],
  ['headers', { hidesHeader: (name) => name === 'tenant' || name === 'empty' }, ['tenant']],
  [
    'texts of errors',
    { text: (text) => (text.includes('4111') ? hiddenMark : text) },
    ['kafka_dlt-exception-message', 'kafka_dlt-exception-cause-fqcn'],
  ],
]

test.each(hides)('a mask that hides %s hides what may hold them, and nothing else', (_, mask, hidden) => {
  const headers = [...copies, ...others]
  const masked = JSON.parse(maskStoredHeaders(JSON.stringify(headers), { ...nothing, ...mask })!)
  expect(masked).toEqual(headers.map(([name, value]) => [name, hidden.includes(String(name)) ? hiddenMark : value]))
})

test('headers of which nothing is hidden are as they were stored', () => {
  expect(maskStoredHeaders(JSON.stringify([...copies, ...others]), nothing)).toBeNull()
})
