// A request about a message points to the message's own trace, as its record carries it.

import { decodeHeader, readStoredHeaders } from 'dlq-core/domain/record/header-json.ts'
import { isUuid } from 'dlq-core/domain/record/message-id.ts'
import { getRecordHeaders } from 'dlq-core/queries/reading/message-view.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import { type Span, traceparentOf } from 'dlq-core/runtime/tracing.ts'

/** Links the span to the trace of the message of that id, where there is one. Only called where tracing is on. */
export async function linkMessage(sql: Database, span: Span, id: string | undefined): Promise<void> {
  if (id === undefined || !isUuid(id)) return
  span.set({ 'dlq.message_id': id })
  // A request is answered whether it can be traced or not.
  const stored = await getRecordHeaders(sql, id).catch(() => null)
  const headers = stored && readStoredHeaders(stored)
  if (!headers) return
  const named = headers.filter(([name]) => name === 'traceparent')
  const traceparent = traceparentOf(named.map((header) => decodeHeader(header)))
  if (traceparent !== null) span.link(traceparent)
}
