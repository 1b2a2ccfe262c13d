// The purge of DEAD messages without budget, while somebody changes them at the same time.
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { expect, test } from 'vitest'
import type { Sql } from '../sql.ts'
import { deleteSpent, purgeSpent } from './message-purge.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const consumer = { originalTopic: 'orders', consumerGroup: null, scope: null }

test.each<[string, (sql: Sql, id: string) => Promise<unknown>]>([
  [
    'the purge of a consumer',
    (sql) => purgeSpent(sql, { ...consumer, afterId: '00000000-0000-0000-0000-000000000000', limit: 10 }),
  ],
  ['the deletion of one job', (sql, id) => deleteSpent(sql, { ...consumer, id })],
])('%s also deletes the edit that it waited for', async (_, remove) => {
  const id = await insertMessageRow(database.sql, { original_topic: 'orders', status: 'DEAD', retry_count: 3 })
  let removing: Promise<unknown> | undefined
  await database.sql.begin(async (sql) => {
    await sql`update dlq.dlq_messages set edits = 1 where id = ${id}`
    await sql`insert into dlq.dlq_message_edits (message_id, number, actor, fields) values (${id}, 1, 'maria', '{value}')`
    removing = service.sql.begin((sql) => remove(sql, id))
    await expect
      .poll(
        () =>
          database.sql`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
      )
      .toHaveLength(1)
  })
  await removing
  expect(await database.sql`select from dlq.dlq_messages where id = ${id}`).toHaveLength(0)
  expect(await database.sql`select from dlq.dlq_message_edits where message_id = ${id}`).toHaveLength(0)
})
