// Assigns error groups to messages that applications have dead-lettered or failed by SQL.

import { failureOf } from 'dlq-core/domain/failure/stored-failure.ts'
import { fingerprint } from 'dlq-core/domain/grouping/error-fingerprint.ts'
import { admitGroups, touchGroups } from 'dlq-core/queries/groups/admit-groups.ts'
import { assignGroups, lockUngrouped } from 'dlq-core/queries/groups/ungrouped.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'

const limit = 500

/** One bounded pass. Any number of retriers may make it at once. */
export async function groupUngrouped({ sql }: { sql: Database }): Promise<{ more: boolean; grouped: number }> {
  return sql.begin(async (sql) => {
    const messages = await lockUngrouped(sql, { limit })
    if (messages.length === 0) return { more: false, grouped: 0 }
    // A message that was never on a DLQ topic counts for its original topic.
    const groupIds = await admitGroups(
      sql,
      messages.map((message) => ({ topic: message.original_topic, group: fingerprint(failureOf(message)) })),
    )
    await assignGroups(
      sql,
      messages.map(({ id }, index) => ({ id, group_id: groupIds[index]! })),
    )
    await touchGroups(
      sql,
      messages.map(({ original_topic }, index) => ({ topic: original_topic, group_id: groupIds[index]! })),
    )
    return { more: messages.length === limit, grouped: messages.length }
  })
}
