// Makes rows from records, without a database.
import { expect, test } from 'vitest'
import { deadLetter } from '../../../fixtures/dead-letter.ts'
import type { KnownTrace } from '../failure/known-traces.ts'
import { originStateOf } from '../origin/origin-state.ts'
import { writtenText } from '../record/header-json.ts'
import { orderKey } from '../record/order-key.ts'
import type { DeadLetterRecord } from '../record/record.ts'
import { defaultRetryPolicy, type RetryPolicy } from '../retry/retry-policy.ts'
import { originPlace, type ReadingSettings, readDeadLetter, recognisedTrace } from './new-message.ts'

const now = new Date('2026-03-01T00:00:00Z')
const settings: ReadingSettings = {
  policyOf: () => defaultRetryPolicy,
  mappings: [],
  dlqPatterns: ['*.dlq.v1'],
}
const read = (record: ReturnType<typeof deadLetter>, more: Partial<ReadingSettings> = {}) =>
  readDeadLetter(record, { ...settings, ...more }, now, 0).message
const connect = (partition: string) =>
  deadLetter([
    ['__connect.errors.topic', 'orders'],
    ['__connect.errors.partition', partition],
    ['__connect.errors.offset', '7'],
  ])

test('a record without an original partition is never retried by itself, whatever topic its headers or a mapping name', () => {
  expect(read(connect('3'))).toMatchObject({ original_partition: 3, next_retry_at: expect.any(Date) })
  expect(read(connect('-1'))).toMatchObject({ original_partition: null, next_retry_at: null })

  const punctuator = deadLetter([
    ['__streams.errors.exception', 'app.Stale'],
    ['__streams.errors.topic', null],
    ['__streams.errors.partition', '-1'],
  ])
  const mappings = [{ dlq: 'orders.dlq.v1', original: 'orders' }]
  expect(read(punctuator, { mappings })).toMatchObject({
    ...{ original_topic: 'orders', original_topic_source: 'mapping' },
    next_retry_at: null,
  })
})

test('a partition that no topic can have is not stored', () => {
  expect(read(connect('2147483648')).original_partition).toBeNull()
  expect(read(connect('-2147483649')).original_partition).toBeNull()
})

const own = [
  ['dlq-original-topic', 'orders'],
  ['dlq-original-partition', '3'],
  ['dlq-original-offset', '7'],
] as const

test('times that are not known are null, and not the time before the first one', () => {
  const at = (timestamp: bigint, original: string) =>
    read(deadLetter([...own, ['dlq-original-timestamp', original]], { timestamp, timestampType: 'append' }))
  expect(at(1_700_000_000_000n, '1600000000000')).toMatchObject({
    ...{ record_timestamp: new Date(1_700_000_000_000), record_timestamp_type: 'append' },
    original_timestamp: new Date(1_600_000_000_000),
  })
  expect(at(-1n, 'soon')).toMatchObject({ record_timestamp: null, original_timestamp: null })
})

test('a row says whether its bytes are those of the dead letter or of the original', () => {
  expect(read(deadLetter([])).record_source).toBe('dlq')
  expect(read(deadLetter([], { original: 'fetched' })).record_source).toBe('origin')
})

test('a policy decides whether messages of one key are sent in order', () => {
  const record = deadLetter([], { key: Buffer.from('key') })
  const ordered = (ordering: 'per-key' | 'none') =>
    read(record, { policyOf: () => ({ ...defaultRetryPolicy, ordering }) }).order_key
  expect([ordered('per-key'), ordered('none')]).toEqual([orderKey(record.key), null])
})

test('a dead letter is compared with its original where the policy says so, and where it is not the original itself', () => {
  const wanted = (more: Partial<DeadLetterRecord>, policy: RetryPolicy['record']) => {
    const record = deadLetter(own, { value: Buffer.from('{}'), ...more })
    const policyOf = () => ({ ...defaultRetryPolicy, record: policy })
    return readDeadLetter(record, { ...settings, policyOf }, now, 0).originWanted
  }
  expect(wanted({}, 'dlq')).toBeNull()
  expect(wanted({}, 'origin')).toMatchObject({
    ...{ record: 'origin', place: { topic: 'orders', partition: 3, offset: 7n } },
    copy: { value: Buffer.from('{}'), timestamp: 1_795_268_108_781n },
  })
  expect(wanted({ timestamp: -1n }, 'origin')).toMatchObject({ copy: { timestamp: null } })
  expect(wanted({ original: 'fetched' }, 'origin')).toBeNull()
  expect(wanted({ original: 'gone' }, 'origin')).toMatchObject({ found: 'gone' })
})

test('the place of an original is certain where a header or a mapping names its topic, and both numbers are known', () => {
  const place = (source: string, original_partition: number | null, original_offset: bigint | null) =>
    originPlace({ ...{ original_topic: 'orders', original_topic_source: source }, original_partition, original_offset })
  expect(place('header', 3, 7n)).toEqual({ topic: 'orders', partition: 3, offset: 7n })
  expect(place('mapping', 3, 7n)).not.toBeNull()
  expect([place('guessed', 3, 7n), place('header', null, 7n), place('header', 3, null)]).toEqual([null, null, null])
})

test('a trace is the recognised one until the message has another, or none', () => {
  const trace = { whole: 'app.Late: too late' } as KnownTrace
  const of = (error_stacktrace: string | null) =>
    recognisedTrace({ message: { ...read(deadLetter([])), error_stacktrace }, trace })
  expect([of(trace.whole), of('another'), of(null)]).toEqual([trace, null, null])
})

test('a policy decides whether the payload is stored beside the bytes or derived from them on reading', () => {
  const record = deadLetter([], { value: Buffer.from('{"n":12345678901234567890.12}') })
  expect(read(record)).toMatchObject({ payload: '{"n":12345678901234567890.12}', record_value: record.value })
  expect(read(record, { policyOf: () => ({ ...defaultRetryPolicy, payload: 'derived' }) })).toMatchObject({
    ...{ payload: null, record_value: record.value },
  })
})

test.each<[string, Partial<DeadLetterRecord>, boolean]>([
  ['in the dead letter', {}, true],
  ['fetched from the original', { original: 'fetched' }, true],
  ['of an original that is gone', { original: 'gone' }, false],
  ['of an original that could not be read', { original: 'unreachable' }, false],
  ['of an original that may not be asked for', { original: 'not-allowed' }, false],
  ['too large to be stored', { unstoredValueBytes: 2_000_000 }, false],
  ['of a batch that cannot be decoded', { undecodable: 'snappy' }, false],
])('a message whose bytes are %s is retried by itself only where they are known', (_, more, isRetried) => {
  const record = deadLetter([['dlq-original-topic', 'orders']], { value: Buffer.from('{}'), ...more })
  expect(read(record).next_retry_at).toEqual(isRetried ? expect.any(Date) : null)
})

test('the bytes of a batch that cannot be decoded are sent by force alone', () => {
  const held = { state: 'unreachable', isHeld: true }
  expect(originStateOf(read(deadLetter([], { undecodable: 'snappy' })).origin_state)).toEqual(held)
  expect(read(deadLetter([])).origin_state).toBeNull()
})

test.each([
  ['auto', 'republish', true, true],
  ['auto', 'republish', false, false],
  ['auto', 'pull', true, false],
  ['stored', 'republish', true, false],
] as const)(
  'of payload %s and delivery %s, behind: %s, the payload is deferred: %s',
  (payload, delivery, isBehind, isDeferred) => {
    const policyOf = () => ({ ...defaultRetryPolicy, payload, delivery })
    const letter = readDeadLetter(
      deadLetter([], { value: Buffer.from('{}') }),
      { ...settings, policyOf, isBehind },
      now,
      0,
    )
    expect(letter.isPayloadDeferred).toBe(isDeferred)
    expect(letter.message.payload).toBe(isDeferred ? null : '{}')
  },
)

test('a policy has personal data taken out of what the failure says, and of nothing else', () => {
  const record = deadLetter(
    [
      ['x-user', 'ann@example.com'],
      ['kafka_dlt-original-topic', 'orders'],
      ['kafka_dlt-exception-message', 'no account of ann@example.com'],
      [
        'kafka_dlt-exception-stacktrace',
        `app.Unknown: no account of ann@example.com\n\tat ${'a'.repeat(80)}(A.java:1)`,
      ],
    ],
    { key: Buffer.from('ann@example.com'), value: Buffer.from('{"email":"ann@example.com"}') },
  )
  const scrub = ['email', 'orders']
  const scrubbed = read(record, { policyOf: () => ({ ...defaultRetryPolicy, scrub }) })
  expect(scrubbed).toMatchObject({
    ...{ is_scrubbed: true, error_message: 'no account of •••', original_topic: 'orders' },
    error_stacktrace: expect.stringMatching(/^app\.Unknown: no account of •••\n/),
    ...{ payload: '{"email":"ann@example.com"}', record_key: record.key },
  })
  // The stored stack trace still stands for its header.
  expect(JSON.parse(writtenText(scrubbed.record_headers!))).toEqual([
    ['x-user', 'ann@example.com'],
    ['kafka_dlt-original-topic', 'orders'],
    ['kafka_dlt-exception-message', 'no account of •••'],
    ['kafka_dlt-exception-stacktrace', { column: 'error_stacktrace' }],
  ])
  expect(read(record)).toMatchObject({ is_scrubbed: null, error_message: 'no account of ann@example.com' })
  const clean = deadLetter([['kafka_dlt-exception-message', 'no stock']])
  expect(read(clean, { policyOf: () => ({ ...defaultRetryPolicy, scrub }) }).is_scrubbed).toBeNull()
})
