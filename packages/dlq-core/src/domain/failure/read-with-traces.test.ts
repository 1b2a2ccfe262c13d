import { expect, test } from 'vitest'
import { fingerprintId } from '../grouping/error-fingerprint.ts'
import { knownFingerprintId } from '../grouping/known-fingerprint.ts'
import { readDeadLetter } from '../message/new-message.ts'
import { writtenText } from '../record/header-json.ts'
import { defaultRetryPolicy } from '../retry/retry-policy.ts'
import { createKnownTraces } from './known-traces.ts'
import { splitFrames } from './stack-frames.ts'

/** With frames that tell a place, unless `frame` says otherwise. */
const traceOf = (message: string, frame = 'com.example.Orders.take(Orders.java:7)') =>
  `com.example.OutOfStock: ${message}\n${`\tat ${frame}\n`.repeat(30)}`

function known(trace: string) {
  const traces = createKnownTraces()
  traces.learn(trace, splitFrames(trace)!)
  return traces
}

const read = (headers: Record<string, string>, scrub: readonly string[] = []) =>
  readDeadLetter(
    {
      ...{ cluster: 'c', topic: 'orders.dlq.v1', partition: 0, offset: 1n, timestamp: 2n, key: null, value: null },
      headers: Object.entries(headers).map(([name, value]) => [name, Buffer.from(value)]),
    },
    {
      ...{ policyOf: () => ({ ...defaultRetryPolicy, scrub }), mappings: [], dlqPatterns: [] },
      traces: known(traceOf('no stock')),
    },
    new Date(0),
    0,
  )

const failed = { 'dlq-original-topic': 'orders', 'dlq-error-class': 'Late', 'dlq-error-message': 'too late' }

test('a known trace in a header of the application is not the trace of the failure', () => {
  const { message, trace } = read({ ...failed, 'x-last-trace': traceOf('no stock for 7') })
  expect([message.error_stacktrace, message.error_class, trace]).toEqual([null, 'Late', null])
})

test('what is taken out of a known trace stands nowhere in the row', () => {
  const letter = read({ ...failed, 'dlq-error-stacktrace': traceOf('no stock for a@b.example') }, ['email'])
  const { error_stacktrace, record_headers } = letter.message
  expect(error_stacktrace).toBe(traceOf('no stock for •••'))
  expect(letter.trace).toBeNull()
  expect(writtenText(record_headers!) + letter.framedHeaders?.stored).not.toContain('a@b.example')
})

test('where known frames tell no place, the message decides about the group', () => {
  const frame = 'somewhere in the program, nobody knows'
  const traces = known(traceOf('no stock', frame))
  for (const errorMessage of ['no stock', 'no such customer']) {
    const trace = traces.recognise(Buffer.from(traceOf(errorMessage, frame)))!
    const named = { errorClass: 'com.example.OutOfStock', errorMessage }
    expect(knownFingerprintId(named, trace)).toBe(fingerprintId({ ...named, errorStacktrace: trace.whole }))
  }
})
