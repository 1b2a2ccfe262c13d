import { expect, test } from 'vitest'
import { copiesOf, namesKey, namesOf, openProof, sealProof } from './erase-proof.ts'

const written = sealProof({
  ...{ run_id: 'r', mode: 'rows', actor: 'a', reason: null, requested_at: '1', finished_at: '2', cutoff: '1' },
  ...{ hmac_key: 'h', keys: [], topics: null, ids: ['m'], counts: {}, remaining: 0, copies_in_kafka: [] },
})

test('a proof is read as it was written, and says what it has not reached', () => {
  const proof = openProof(written)
  expect(proof).toMatchObject({ run_id: 'r', ids: ['m'] })
  expect(proof).not.toHaveProperty('sha256')
  expect(proof.not_reached).toContain('exported files')
})

test.each([
  ['a proof that was changed', written.replace('"actor":"a"', '"actor":"b"'), 'its SHA-256 differs'],
  ['a proof without its digest', '{"ids":[]}', 'it is no proof'],
  ['another file', '{"sha256":"0"}', 'it is no proof'],
])('%s is refused', (_, text, message) => expect(() => openProof(text)).toThrow(message))

const place = { what: 'dlq', topic: 'orders.dlq.v1', partition: 0, offset: '0', at: '2026-01-01T00:00:00.000Z' }
const copies = (of: Partial<Record<keyof typeof place, unknown>>, retentionMs: number | null = 1000) =>
  copiesOf(JSON.stringify([{ ...place, ...of }]), (topic) => (topic === place.topic ? retentionMs : null))

test('a copy in Kafka is deleted after its topic’s retention, where both are known', () => {
  const copy = { what: 'dlq', topic: 'orders.dlq.v1', partition: 0, offset: '0' }
  expect(copies({})).toEqual([{ ...copy, deleted_after: '2026-01-01T00:00:01.000Z' }])
  for (const [of, retentionMs] of [
    [{ at: null }, 1000],
    [{}, null],
    [{}, Number.MAX_SAFE_INTEGER],
  ] as const)
    expect(copies(of, retentionMs)).toEqual([{ ...copy, deleted_after: null }])
})

test.each(['topic', 'partition', 'offset'])('a place without its %s is no copy', (field) =>
  expect(copies({ [field]: null })).toEqual([]),
)

test.each([
  ['customer-7', 'order of customer-7 failed', true],
  ['customer-7', '{"key":"customer-7"}', true],
  ['customer-7', `{"key":"base64:${Buffer.from('customer-7').toString('base64')}"}`, true],
  ['a "quoted" key', '{"key":"a \\"quoted\\" key"}', true],
  ['a "quoted" key', 'of a "quoted" key', true],
  ['1234', 'order 12345', true],
  ['123', 'order 12345', false],
  ['123', '{"key":"123"}', true],
  ['123', '123', true],
  ['123', 'base64:MTIz', true],
  ['12', 'base64:MTI=', false],
  ['customer-7', 'order of customer-8', false],
])('the key %s is told from %s: %s', (key, text, isNamed) => {
  expect(namesKey(text, [Buffer.from('another'), Buffer.from(key)])).toBe(isNamed)
})

test('short keys are looked for as whole strings alone', () => {
  expect(namesOf([Buffer.from('123'), Buffer.from('a"bc')])).toEqual([
    ...['"123"', 'base64:MTIz'],
    ...['"a\\"bc"', 'base64:YSJiYw==', 'a\\"bc'],
  ])
})
