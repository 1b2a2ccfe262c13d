// Shared by the tests of the resources around the messages: an API for everybody, one for a token limited to pay.*, and
// three DLQ topics.

import { recordTopics } from 'dlq-core/queries/ingest/topics.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach } from 'vitest'
import { answerOf, createTestApp, lazyTestApp, type TestApp } from '../../test-app.ts'

/** To be called once at the top of a test file. */
export function useOverview() {
  const database = useDatabase()
  const service = useServiceDatabase(database)
  const request = lazyTestApp(service)
  const limited: TestApp = (...call) =>
    createTestApp(service.sql, {
      authenticate: async () => ({ actor: 'l', grants: [{ role: 'admin', topics: ['pay.*'] }] }),
    })(...call)

  beforeEach(async () => {
    await emptyTables(
      database.sql,
      'dlq.dlq_positions',
      'dlq.dlq_messages',
      'dlq.dlq_topics',
      'dlq.dlq_policies',
      'dlq.dlq_retriers',
      'dlq.dlq_ingesters',
      'dlq.dlq_names',
      'dlq.dlq_audit',
    )
    const topics = ['orders.dlq.v1', 'pay.dlq.v1', 'unused.dlq.v1']
    await recordTopics(service.sql, {
      cluster: 'c',
      found: topics.map((topic) => ({ topic, topic_id: null, partitions: 2 })),
    })
  })

  return {
    ...{ database, service, request, limited },
    insert: (columns = {}) => insertMessageRow(database.sql, columns),
    /** The body of a GET below /api/v1/. */
    bodyOf: async (path: string, app = request) =>
      (await answerOf(app(`GET /api/v1/${path}`))).body as Record<string, unknown>,
  }
}
