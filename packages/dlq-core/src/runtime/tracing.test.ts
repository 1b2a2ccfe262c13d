import { expect, test } from 'vitest'
import { isTracingAsked, startTracing } from './start-tracing.ts'
import { noTracing, type Tracing, traceparentOf, traceRecords } from './tracing.ts'

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
const header = (value: string | null) => ['traceparent', value === null ? null : Buffer.from(value)] as const

test.each([
  [{}, false],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }, true],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector:4318/v1/traces' }, true],
  [{ OTEL_TRACES_EXPORTER: 'otlp' }, true],
  [{ OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }, false],
  [{ OTEL_SDK_DISABLED: 'TRUE', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }, false],
])('with %j traces are asked for: %j', (env, isAsked) => {
  expect(isTracingAsked(env)).toBe(isAsked)
})

test('where traces are off, OpenTelemetry is not even loaded', async () => {
  expect(await startTracing({ service: 'api', version: '1', env: {} })).toBe(noTracing)
})

test.each([
  [[header(traceparent)], traceparent],
  [[header('garbage'), header(traceparent)], traceparent],
  [[header(`cc${traceparent.slice(2)}-what-will-be`)], `cc${traceparent.slice(2)}`],
  [[header(null)], null],
  [[], null],
  [[header(traceparent.toUpperCase())], null],
  [[header(`ff${traceparent.slice(2)}`)], null],
  [[header(`00-${'0'.repeat(32)}-00f067aa0ba902b7-01`)], null],
  [[header(`00-4bf92f3577b34da6a3ce929d0e0e4736-${'0'.repeat(16)}-01`)], null],
  [[header(`${traceparent}0`)], null],
])('of the headers %j the trace is %j', (headers, expected) => {
  expect(traceparentOf(headers)).toBe(expected)
})

test('records with a trace get a span in it, at most 500 of a batch, and none while tracing is off', () => {
  const started: unknown[] = []
  const tracing: Tracing = {
    ...noTracing,
    isOn: true,
    start(spec) {
      started.push(spec.parent)
      return noTracing.start(spec)
    },
  }
  const describe = () => ({ name: 'process', kind: 'consumer', attributes: {} }) as const
  const records = Array.from({ length: 1200 }, (_, n) => ({ headers: n % 2 === 0 ? [header(traceparent)] : [] }))
  expect(traceRecords(tracing, records, describe).size).toBe(500)
  expect(new Set(started)).toEqual(new Set([traceparent]))
  expect(traceRecords(noTracing, records, describe).size).toBe(0)
})
