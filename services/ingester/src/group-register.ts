// Which error group each dead letter belongs to. A group is made known to the database once; after
// that it costs a look into a map, so that grouping does not slow a batch.

import { type Fingerprint, fingerprint, fingerprintId, overflowGroup } from 'dlq-core/error-fingerprint.ts'
import type { DeadLetter } from 'dlq-core/new-message.ts'
import { admitGroups, createGroups, type GroupOfTopic, touchGroups } from 'dlq-core/queries/groups.ts'
import type { Database } from 'dlq-core/runtime/database.ts'

export type GroupRegister = {
  /** Sets `group_id` of every letter's message. */
  assign(letters: readonly DeadLetter[]): Promise<void>
}

/** A topic whose errors are all different (a message with an unrecognised id in it) must not fill the table. */
const maxGroupsPerTopic = 1000
const maxRemembered = 50_000
const touchEveryMs = 30_000

export function createGroupRegister(sql: Database, { now }: { now: () => number }): GroupRegister {
  /** "topic group" → the group to use: itself, or the overflow group of a topic that has too many. */
  const known = new Map<string, string>()
  const seen = new Set<string>()
  let touchedAt = now()

  async function admit(unknown: ReadonlyMap<string, GroupOfTopic & { group: Fingerprint }>): Promise<void> {
    const wanted = [...unknown.values()]
    await createGroups(sql, [overflowGroup, ...new Map(wanted.map(({ group }) => [group.id, group])).values()])
    const admitted = await admitGroups(sql, {
      groups: wanted.map(({ dlq_topic, group_id }) => ({ dlq_topic, group_id })),
      maxPerTopic: maxGroupsPerTopic,
    })
    // A plain bound: forgetting all of it now and then costs one query per group.
    if (known.size + wanted.length > maxRemembered) known.clear()
    for (const key of unknown.keys()) known.set(key, overflowGroup.id)
    for (const { dlq_topic, group_id } of admitted) known.set(keyOf(dlq_topic, group_id), group_id)
  }

  return {
    async assign(letters) {
      const ids = letters.map(({ message }) => fingerprintId(failureOf(message)))
      const unknown = new Map<string, GroupOfTopic & { group: Fingerprint }>()
      letters.forEach(({ message }, index) => {
        const { dlq_topic } = message
        const group_id = ids[index]!
        const key = keyOf(dlq_topic, group_id)
        if (known.has(key) || unknown.has(key)) return
        unknown.set(key, { dlq_topic, group_id, group: fingerprint(failureOf(message)) })
      })
      if (unknown.size > 0) await admit(unknown)
      letters.forEach(({ message }, index) => {
        message.group_id = known.get(keyOf(message.dlq_topic, ids[index]!)) ?? overflowGroup.id
        seen.add(message.group_id)
      })
      if (now() - touchedAt < touchEveryMs) return
      touchedAt = now()
      await touchGroups(sql, { ids: [...seen], everyMs: touchEveryMs })
      seen.clear()
    },
  }
}

function keyOf(topic: string, groupId: string): string {
  return `${topic} ${groupId}`
}

function failureOf({ error_class, error_message, error_stacktrace }: DeadLetter['message']) {
  return { errorClass: error_class, errorMessage: error_message, errorStacktrace: error_stacktrace }
}
