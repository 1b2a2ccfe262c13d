import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { type StoredHeader, storedHeaders } from '../record/header-json.ts'
import { frameHeaders } from './framed-headers.ts'

/** The columns of a row with that message. */
const row = (error_message: string, { offset = 7 } = {}) => ({
  error_message,
  original_partition: null,
  original_offset: BigInt(offset),
})

const listener = `Listener method 'public void com.example.orders.OrderListener.on(ConsumerRecord<byte[], byte[]>)' threw exception; `

/** As Spring writes them. */
function springHeaders({ order = '4711', offset = 7, cause = 'com.example.OutOfStock' } = {}): StoredHeader[] {
  return [
    ['traceparent', `00-${order.padStart(32, '0')}-00f067aa0ba902b7-01`],
    ['kafka_dlt-original-topic', 'orders'],
    ['kafka_dlt-original-offset', { base64: Buffer.from([0, 0, 0, 0, 0, 0, 0, offset]).toString('base64') }],
    ['kafka_dlt-original-consumer-group', 'order-service'],
    ['kafka_dlt-exception-fqcn', 'org.springframework.kafka.listener.ListenerExecutionFailedException'],
    ['kafka_dlt-exception-cause-fqcn', cause],
    ['kafka_dlt-exception-message', `${listener}order ${order}`],
    ['kafka_dlt-exception-stacktrace', { column: 'error_stacktrace' }],
    ['tenant', 'acme'],
  ]
}

test('failures at one place share a template, which has nothing of a record', () => {
  const [some, other] = [
    { order: '4711', offset: 7 },
    { order: '4712', offset: 8 },
  ].map((failure) => frameHeaders(springHeaders(failure), row(`order ${failure.order}`, failure)))
  expect(some!.template).toBe(other!.template)
  expect(some!.template).not.toContain('4711')
  expect(JSON.parse(some!.stored)).toEqual([springHeaders()[0], { framed: [] }, springHeaders().at(-1)])
  expect(frameHeaders(springHeaders({ cause: 'com.example.Gone' }), row('order 4711'))!.template).not.toBe(
    some!.template,
  )
})

test('a text before the message that is not the framework’s own stays in the row', () => {
  const said = (before: string): StoredHeader[] => [
    ...springHeaders().slice(0, 6),
    ['kafka_dlt-exception-message', `${before}order 4711`],
    ['kafka_dlt-exception-stacktrace', { column: 'error_stacktrace' }],
  ]
  for (const before of ['customer ada@example.test: ', "Listener method 'a' of 'b' threw exception; "]) {
    const { template, stored } = frameHeaders(said(before), row('order 4711'))!
    expect(template).not.toContain('ada')
    expect(template).not.toContain('threw')
    expect(stored).toContain(`${before}order 4711`)
  }
})

test('headers stay whole where a name holds a NUL, which PostgreSQL could not put together', () => {
  const named = (name: string): StoredHeader[] => [...springHeaders().slice(0, 8), [name, 'x']]
  expect(frameHeaders(named('kafka_dlt-\0'), row('no'))).toBeNull()
  expect(frameHeaders(named('kafka_dlt-\\u0000'), row('no'))).not.toBeNull()
})

test('a name that is too long to be one stays in the row', () => {
  const headers = springHeaders({ cause: 'x'.repeat(513) })
  expect(frameHeaders(headers, row('no'))!.stored).toContain('x'.repeat(513))
})

test('the longest run of failure headers is taken apart, and others stay as they are', () => {
  const stale: StoredHeader = ['kafka_dlt-original-topic', 'stale']
  const framed = JSON.parse(frameHeaders([stale, ...springHeaders(), stale], row('order 4711'))!.stored)
  expect([framed[0], ...framed.slice(-2)]).toEqual([stale, ['tenant', 'acme'], stale])
})

test.each<[string, StoredHeader[]]>([
  ['none', []],
  ['none of a failure', [['tenant', 'x'.repeat(300)]]],
  ['few', [['kafka_dlt-original-topic', 'orders']]],
  // Whether the failure was read from `error` is decided by all headers together.
  ['some beside `error`', [...springHeaders(), ['error', 'no']]],
  ['thousands', Array.from({ length: 3000 }, (): StoredHeader => ['kafka_dlt-original-topic', 'orders'])],
])('headers stay whole where there are %s', (_, headers) => {
  expect(frameHeaders(headers, row('no'))).toBeNull()
})

test('headers of a record are taken apart as they are stored', () => {
  const headers = storedHeaders([
    ['kafka_dlt-original-topic', Buffer.from('orders')],
    ['kafka_dlt-original-partition', Buffer.from([0, 0, 0, 3])],
    ['kafka_dlt-exception-message', null],
    ['kafka_dlt-exception-fqcn', Buffer.from(`com.example.${'a'.repeat(250)}`)],
  ])
  expect(JSON.parse(frameHeaders(headers, row('unknown error'))!.stored)).toEqual([{ framed: ['AAAAAw=='] }])
})

test('whatever was taken apart before, headers are taken apart as the first ones are', async () => {
  // Lists that differ in little: what fits a template nearly is what might be mistaken for it.
  const one = (names: string[], values: StoredHeader[1][]) =>
    fc.tuple(fc.constantFrom(...names), fc.constantFrom(...values))
  const numbers = ['3', 'x', { base64: '/w==' }, { base64: 'AAAAAw==' }, { base64: 'AAAAAAAAAAM=' }]
  const said = ['no', 'failed: no', 'Listener failed; no', `${listener}no`, null, { column: 'error_stacktrace' }]
  const headersOf = fc.tuple(
    one(['kafka_dlt-original-topic', 'kafka_original-topic'], ['orders', 'shop', null]),
    one(['kafka_dlt-original-partition'], numbers),
    one(['kafka_dlt-original-offset'], numbers),
    one(['kafka_dlt-exception-message'], said),
    one(['kafka_dlt-exception-fqcn'], [`com.example.${'deep.'.repeat(50)}Failed`]),
    one(['kafka_dlt-exception-stacktrace', 'tenant'], [{ column: 'error_stacktrace' }, 'no']),
  )
  const row = fc.record({
    error_message: fc.constantFrom('', 'no', 'no', 'no', 'orders'),
    original_partition: fc.constantFrom(null, 3),
    original_offset: fc.constantFrom(null, 3n),
  })
  let taken = 0
  await fc.assert(
    fc.asyncProperty(headersOf, row, async (headers, columns) => {
      vi.resetModules()
      const { frameHeaders: takeApartFirst } = await import('./framed-headers.ts')
      const framed = frameHeaders(headers, columns)
      if (framed !== null) taken++
      expect(framed).toEqual(takeApartFirst(headers, columns))
      // Another row with the same headers finds the template.
      const other = { ...columns, error_message: 'another', original_partition: 4 }
      expect(frameHeaders(headers, other)).toEqual(takeApartFirst(headers, other))
    }),
    { numRuns: 1000 },
  )
  expect(taken).toBeGreaterThan(800)
})
