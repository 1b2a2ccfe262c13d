// Which error group each dead letter belongs to. A group is made known to the database once; after
// that it costs a look into a map, so that grouping does not slow a batch.

import { failureOf } from 'dlq-core/domain/failure/stored-failure.ts'
import { fingerprint, fingerprintId, overflowGroup } from 'dlq-core/domain/grouping/error-fingerprint.ts'
import type { DeadLetter } from 'dlq-core/domain/message/new-message.ts'
import {
  admitGroups,
  admittedForMs,
  type FailedAt,
  type GroupOfTopic,
  touchEveryMs,
  touchGroups,
  type WantedGroup,
} from 'dlq-core/queries/groups/admit-groups.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'

export type GroupRegister = {
  /** Sets `group_id` of every letter's message. */
  assign(letters: readonly DeadLetter[]): Promise<void>
}

const maxRemembered = 50_000

export function createGroupRegister(sql: Database, { now }: { now: () => number }): GroupRegister {
  /** "topic group" → the group to use, itself or the overflow group of a topic that has too many, and its last use. */
  const known = new Map<string, { id: string; usedAt: number }>()
  const seen = new Map<string, GroupOfTopic>()
  let touchedAt = now()

  async function admit(unknown: ReadonlyMap<string, WantedGroup>): Promise<void> {
    const groupIds = await admitGroups(sql, [...unknown.values()])
    // A plain bound: forgetting all of it now and then costs one query per group.
    if (known.size + unknown.size > maxRemembered) known.clear()
    for (const [index, key] of [...unknown.keys()].entries()) known.set(key, { id: groupIds[index]!, usedAt: now() })
  }

  return {
    async assign(letters) {
      const ids = letters.map(({ message }) => fingerprintId(failureOf(message)))
      const spans = new Map<string, FailedAt>()
      letters.forEach(({ message }, index) => {
        const key = keyOf(message.dlq_topic, ids[index]!)
        const at = message.record_timestamp === null ? now() : Date.parse(message.record_timestamp)
        spans.set(key, widened(spans.get(key), { first: at, last: at }))
      })
      const unknown = new Map<string, WantedGroup>()
      letters.forEach(({ message }, index) => {
        const { dlq_topic } = message
        const group_id = ids[index]!
        const key = keyOf(dlq_topic, group_id)
        const admitted = known.get(key)
        if ((admitted && now() - admitted.usedAt < admittedForMs) || unknown.has(key)) return
        unknown.set(key, { topic: dlq_topic, group: fingerprint(failureOf(message)), failed: spans.get(key) })
      })
      if (unknown.size > 0) await admit(unknown)
      letters.forEach(({ message }, index) => {
        const admitted = known.get(keyOf(message.dlq_topic, ids[index]!))
        if (admitted) admitted.usedAt = now()
        message.group_id = admitted?.id ?? overflowGroup.id
        const { dlq_topic: topic, group_id } = message
        const key = keyOf(topic, group_id)
        seen.set(key, {
          topic,
          group_id,
          failed: widened(seen.get(key)?.failed, spans.get(keyOf(topic, ids[index]!))!),
        })
      })
      if (now() - touchedAt < touchEveryMs) return
      touchedAt = now()
      await touchGroups(sql, [...seen.values()])
      seen.clear()
    },
  }
}

/** Both spans of time together. */
function widened(known: FailedAt | undefined, { first, last }: FailedAt): FailedAt {
  if (known === undefined) return { first, last }
  return { first: Math.min(known.first, first), last: Math.max(known.last, last) }
}

function keyOf(topic: string, groupId: string): string {
  return `${topic} ${groupId}`
}
