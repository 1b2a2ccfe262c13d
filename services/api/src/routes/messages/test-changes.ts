// Shared by the tests of changes: a record in the database, and requests that change it.
import { encodeHeaders } from 'dlq-core/domain/record/header-json.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, type MessageColumns } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, expect } from 'vitest'
import { lazyTestApp } from '../../test-app.ts'

export const record = {
  dlq_topic: 'orders.dlq.v1',
  record_key: Buffer.from('order-1'),
  record_value: Buffer.from('{"amount":10}'),
  record_headers: JSON.parse(encodeHeaders([['trace', Buffer.from('abc')]])),
  payload: { amount: 10 },
}

export const path = (id: string, rest = '') => `/api/v1/dlq/messages/${id}${rest}`
export const errorWith = (code: string) => ({ error: expect.objectContaining({ code }) })

/** Call once at the top of a test file. */
export function useChanges() {
  const database = useDatabase()
  const service: { readonly sql: Database } = useServiceDatabase(database)

  beforeEach(async () => {
    await emptyTables(
      database.sql,
      ...['dlq.dlq_attempts', 'dlq.dlq_message_edits', 'dlq.dlq_messages'],
      ...['dlq.dlq_audit', 'dlq.dlq_policies', 'dlq.dlq_slots'],
    )
  })

  const request = lazyTestApp(service)
  const send = (methodAndPath: string, body?: unknown, headers: Record<string, string> = {}) =>
    request(methodAndPath, {
      headers: { 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
  return {
    database,
    service,
    request,
    send,
    insert: (columns?: MessageColumns) => insertMessageRow(database.sql, columns),
    edit: (id: string, body: unknown, headers: Record<string, string> = { 'if-match': '*' }) =>
      send(`PATCH ${path(id)}`, body, headers),
    async auditOf(id: string) {
      const entries = await database.sql`
        select actor, action, reason, before, after from dlq.dlq_audit where target_id = ${id} order by id`
      return entries.map((row) => ({ ...row }))
    },
  }
}
