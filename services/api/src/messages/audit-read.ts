// The audit's entries of reads, where `audit.reads: payloads` is set: who was shown payloads, keys or values, of which
// message or by which filter.

import { type AuditEntry, topicsOfMessage, writeAudit } from 'dlq-core/queries/change/audit.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'

export type Read = {
  by: Pick<AuditEntry, 'actor' | 'role' | 'request_id'>
  /** Of the route, as it is declared. */
  path: string
  params: unknown
  query: unknown
}

/** What these look for may be what a payload holds; the audit has no payloads. */
const searchedContent = new Set(['q', 'payload', 'key'])

export async function auditRead(sql: Database, { by, path, params, query }: Read): Promise<void> {
  const { id, topic } = params as { id?: string; topic?: string }
  const asked = Object.entries(query as Record<string, unknown>).flatMap(([name, value]) =>
    value === undefined || name === 'cursor' ? [] : [[name, searchedContent.has(name) ? '…' : value]],
  )
  const after = { path, ...(asked.length > 0 && { query: Object.fromEntries(asked) }) }
  if (id !== undefined && path.startsWith('/api/v1/runs/')) {
    await writeAudit(sql, { ...by, target_type: 'run', target_id: id, action: 'messages.read', after })
    return
  }
  if (id !== undefined) {
    const topics = await topicsOfMessage(sql, id)
    await writeAudit(sql, { ...by, ...topics, action: 'message.read', target_type: 'message', target_id: id, after })
    return
  }
  const target = { target_type: topic === undefined ? 'messages' : 'topic', target_id: topic ?? '*' }
  await writeAudit(sql, { ...by, ...target, action: 'messages.read', after })
}
