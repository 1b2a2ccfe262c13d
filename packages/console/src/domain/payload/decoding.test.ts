import { expect, test } from 'vitest'
import { decodingText, isWrittenBySchema } from './decoding.ts'
import { memberText } from './member-text.ts'

const decoding = {
  ...{ state: 'decoded' as const, format: 'avro' as const, compression: null, labels: [], problem: null, since: null },
  schema: { number: 3, registry: 'main', id_kind: 'id' as const, id: '5', name: 'com.example.Order' },
}

test('a decoded value is named by its format, its schema and what was around it', () => {
  expect(decodingText(decoding)).toBe('decoded from Avro · com.example.Order · main, id 5')
  expect(decodingText({ ...decoding, format: null, schema: null, compression: 'gzip', labels: ['debezium'] })).toBe(
    'JSON · gzip · in a wrapper of Debezium',
  )
})

test('what was decoded from a schema or unpacked is written so again, and plain JSON as it is typed', () => {
  expect(isWrittenBySchema(decoding)).toBe(true)
  expect(isWrittenBySchema({ ...decoding, format: null, schema: null, compression: 'gzip' })).toBe(true)
  expect(isWrittenBySchema({ ...decoding, format: null, schema: null, labels: ['debezium'] })).toBe(false)
  expect(isWrittenBySchema({ ...decoding, state: 'waiting' })).toBe(false)
  expect(isWrittenBySchema(null)).toBe(false)
})

test('a value that is not decoded says why', () => {
  const schema = { ...decoding.schema, name: null }
  expect(decodingText({ ...decoding, schema, state: 'waiting', format: null, problem: 'registry_unreachable' })).toBe(
    'waits for its schema: the registry does not answer · main, id 5',
  )
  expect(decodingText({ ...decoding, state: 'failed', problem: '1 bytes are left over' })).toBe(
    'Avro is not decoded: 1 bytes are left over · com.example.Order · main, id 5',
  )
})

test('a decoded value is shown with all its digits', () => {
  expect(memberText('{"id":1,"payload":{"cents":9007199254740993,"rate":1.10}}', 'payload')).toBe(
    '{"cents":9007199254740993,"rate":1.10}',
  )
  expect(memberText('{"id":1}', 'payload')).toBeNull()
})
