// Reads a failure whose stack trace has known frames without decoding the whole trace (known-traces.ts). The parsers of
// the families are given an abridged trace in its place, and read the same from it.

import type { DeadLetterRecord } from '../record/record.ts'
import { readingAs } from './families/decode.ts'
import { abridgedTrace, type KnownTrace, type KnownTraces } from './known-traces.ts'
import { type Failure, readFailure } from './read-failure.ts'

/** `known`: the trace, and the header's value that holds it. Null where it was read whole, or there is none. */
export type FailureWithTrace = Failure & { known: (KnownTrace & { bytes: Buffer }) | null }

/** A shorter value is as quickly read whole. */
const minTraceBytes = 512

/** As `readFailure`. */
export function readWithTraces(record: DeadLetterRecord, traces: KnownTraces | undefined): FailureWithTrace {
  const { topic, timestamp, value, headers } = record
  const at = traces === undefined ? -1 : longestValue(headers)
  const [name, bytes] = headers[at] ?? ['', null]
  const trace = bytes === null || bytes.length < minTraceBytes ? null : traces!.recognise(bytes)
  if (bytes === null || trace === null) return { ...readFailure(record), known: null }
  const abridged = abridgedTrace(trace)
  const failure = readingAs(abridged, (bytes) =>
    readFailure({ topic, timestamp, value, headers: headers.with(at, [name, bytes]) }),
  )
  // The trace may stand in another header.
  if (failure.context.errorStacktrace !== abridged) return { ...readFailure(record), known: null }
  const { family, ours, families } = failure
  return {
    family,
    ours,
    families,
    context: { ...failure.context, errorStacktrace: trace.whole },
    known: { ...trace, bytes },
  }
}

/** Where the longest value stands; −1 where there are no headers. */
function longestValue(headers: DeadLetterRecord['headers']): number {
  let [longest, bytes] = [-1, -1]
  for (let at = 0; at < headers.length; at++) {
    const length = headers[at]![1]?.length ?? 0
    if (length > bytes) [longest, bytes] = [at, length]
  }
  return longest
}
