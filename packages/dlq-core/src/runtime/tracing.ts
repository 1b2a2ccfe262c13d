// Traces by OpenTelemetry, off unless its own environment variables ask for them; its packages are only loaded then.
// Contexts are passed on by hand, as traceparent headers: a batch holds the records of many traces, so there is no
// "current" one.

import type { Header } from '../record.ts'

export type SpanSpec = {
  name: string
  kind: 'consumer' | 'producer' | 'server'
  attributes: Readonly<Record<string, string | number>>
  /** A traceparent header (W3C Trace Context) whose trace the span belongs to; null begins a trace. */
  parent: string | null
}

export type Span = {
  rename(name: string): void
  set(attributes: SpanSpec['attributes']): void
  /** Points to another trace, by its traceparent header. */
  link(traceparent: string): void
  end(failure?: string): void
}

export type Tracing = {
  readonly isOn: boolean
  start(spec: SpanSpec): Span
  /** Sends what waits, for a few seconds at most. */
  [Symbol.asyncDispose](): Promise<void>
}

const noSpan: Span = { rename() {}, set() {}, link() {}, end() {} }

export const noTracing: Tracing = { isOn: false, start: () => noSpan, async [Symbol.asyncDispose]() {} }

/** Whether OTEL_… variables ask for traces: an endpoint, or OTEL_TRACES_EXPORTER=otlp. */
export function isTracingAsked(env: NodeJS.ProcessEnv): boolean {
  if (env.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return false
  if (env.OTEL_TRACES_EXPORTER) return env.OTEL_TRACES_EXPORTER === 'otlp'
  return Boolean(env.OTEL_EXPORTER_OTLP_ENDPOINT || env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT)
}

/** @param env OTEL_EXPORTER_OTLP_…, OTEL_TRACES_SAMPLER, OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES and OTEL_BSP_… go by OpenTelemetry's specification */
export async function startTracing(options: {
  service: string
  version: string
  env: NodeJS.ProcessEnv
}): Promise<Tracing> {
  if (!isTracingAsked(options.env)) return noTracing
  const { startOtlpTracing } = await import('./otlp-tracing.ts')
  return startOtlpTracing(options)
}

const traceparentPattern = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(-|$)/

/** The traceparent among a record's headers; null where there is none that is valid. */
export function traceparentOf(headers: readonly Header[]): string | null {
  const value = headers.findLast(([name]) => name === 'traceparent')?.[1]
  // Longer ones are of a version that nobody has written yet; their beginning means the same.
  const text = value && value.length <= 512 ? value.toString('latin1') : ''
  return traceparentPattern.test(text) ? text.slice(0, 55) : null
}

/** So many records of a batch get a span at most. */
const maxSpans = 500

/** Starts a span for every record that carries a trace. Nothing is done while tracing is off. */
export function traceRecords<T extends { headers: readonly Header[] }>(
  tracing: Tracing,
  records: readonly T[],
  describe: (record: T) => Omit<SpanSpec, 'parent'>,
): Map<T, Span> {
  const spans = new Map<T, Span>()
  if (!tracing.isOn) return spans
  for (const record of records) {
    const parent = traceparentOf(record.headers)
    if (parent !== null && spans.size < maxSpans) spans.set(record, tracing.start({ ...describe(record), parent }))
  }
  return spans
}
