// Tracing for the services: spans, and the traceparent headers that name a record's trace.
// Contexts are passed on by hand: a batch holds the records of many traces, so there is no "current" one.
// start-tracing.ts decides whether there is tracing at all.

import type { Header } from '../domain/record/record.ts'

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
  /** Sends the waiting spans, for a few seconds at most. */
  [Symbol.asyncDispose](): Promise<void>
}

const noSpan: Span = { rename() {}, set() {}, link() {}, end() {} }

export const noTracing: Tracing = { isOn: false, start: () => noSpan, async [Symbol.asyncDispose]() {} }

const traceparentPattern = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}(-|$)/

/** The traceparent among a record's headers; null without a valid one. */
export function traceparentOf(headers: readonly Header[]): string | null {
  const value = headers.findLast(([name]) => name === 'traceparent')?.[1]
  // A longer header is of a later version of the format; its beginning means the same.
  const text = value && value.length <= 512 ? value.toString('latin1') : ''
  return traceparentPattern.test(text) ? text.slice(0, 55) : null
}

/** At most this many records of a batch get a span. */
const maxSpans = 500

/** Starts a span for every record that carries a trace. Does nothing while tracing is off. */
export function traceRecords<T extends { headers: readonly Header[] }>(
  tracing: Tracing,
  records: Iterable<T>,
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
