// Finds the error groups of what applications have dead-lettered or failed by SQL.

import { type Fingerprint, fingerprint, overflowGroup } from 'dlq-core/error-fingerprint.ts'
import { admitGroups, createGroups, touchGroups } from 'dlq-core/queries/groups.ts'
import { assignGroups, lockUngrouped, type Ungrouped } from 'dlq-core/queries/ungrouped.ts'
import type { Database } from 'dlq-core/runtime/database.ts'

const limit = 500
const maxGroupsPerTopic = 1000
const touchEveryMs = 30_000

/** One bounded pass. Any number of retriers may make it at once. */
export async function groupUngrouped({ sql }: { sql: Database }): Promise<{ more: boolean; grouped: number }> {
  return sql.begin(async (sql) => {
    const letters = (await lockUngrouped(sql, { limit })).map((message) => ({ message, group: groupOf(message) }))
    if (letters.length === 0) return { more: false, grouped: 0 }
    const groups = new Map(letters.map(({ group }) => [group.id, group]))
    await createGroups(sql, [overflowGroup, ...groups.values()])
    // The bound on groups goes by the topic, as if that were a DLQ topic.
    const wanted = new Map(
      letters.map(({ message: { original_topic: dlq_topic }, group: { id: group_id } }) => [
        keyOf({ dlq_topic, group_id }),
        { dlq_topic, group_id },
      ]),
    )
    const admitted = await admitGroups(sql, { groups: [...wanted.values()], maxPerTopic: maxGroupsPerTopic })
    const known = new Set(admitted.map(keyOf))
    const found = letters.map(({ message: { id, original_topic: dlq_topic }, group: { id: group_id } }) => ({
      id,
      group_id: known.has(keyOf({ dlq_topic, group_id })) ? group_id : overflowGroup.id,
    }))
    await assignGroups(sql, found)
    await touchGroups(sql, { ids: [...new Set(found.map(({ group_id }) => group_id))], everyMs: touchEveryMs })
    return { more: letters.length === limit, grouped: letters.length }
  })
}

function groupOf({ error_class, error_message, error_stacktrace }: Ungrouped): Fingerprint {
  return fingerprint({ errorClass: error_class, errorMessage: error_message, errorStacktrace: error_stacktrace })
}

function keyOf({ dlq_topic, group_id }: { dlq_topic: string; group_id: string }): string {
  return `${group_id} ${dlq_topic}`
}
