// Which error group each dead letter belongs to. A group is made known to the database once; after
// that it costs a look into a map, so that grouping does not slow a batch.

import { abridgedTrace } from 'dlq-core/domain/failure/known-traces.ts'
import { failureOf } from 'dlq-core/domain/failure/stored-failure.ts'
import { fingerprint, fingerprintId } from 'dlq-core/domain/grouping/error-fingerprint.ts'
import { knownFingerprintId } from 'dlq-core/domain/grouping/known-fingerprint.ts'
import { type DeadLetter, recognisedTrace } from 'dlq-core/domain/message/new-message.ts'
import {
  admitGroups,
  admittedForMs,
  type FailedAt,
  type GroupOfTopic,
  listWithoutTexts,
  touchEveryMs,
  touchGroups,
  type WantedGroup,
} from 'dlq-core/queries/groups/admit-groups.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'

export type GroupRegister = {
  /** Sets `group_id` of every letter's message. Now and then it tells the database when groups were seen. */
  assign(letters: readonly DeadLetter[]): Promise<void>
  /** Sets it where the group is known. False where the database has to be told of it. */
  assignKnown(letter: DeadLetter): boolean
  /** The database may not have what it was told: each group is made known again. */
  forget(): void
}

const maxRemembered = 50_000

/** `failed`: when its messages failed that `assignKnown` has seen, and nobody was told of yet. In milliseconds. */
type Remembered = { topic: string; id: string; usedAt: number; failed: { first: number; last: number } | null }

type Seen = GroupOfTopic & { failed: FailedAt }

export function createGroupRegister(sql: Database, { now }: { now: () => number }): GroupRegister {
  /** "topic group" → the group to use, itself or the overflow group of a topic that has too many, and its last use. */
  const known = new Map<string, Remembered>()
  let seen = new Map<string, Seen>()
  let touchedAt = now()

  /** Returns which group to use for each of the keys. */
  async function admit(unknown: ReadonlyMap<string, WantedGroup>): Promise<Map<string, string>> {
    const groupIds = await admitGroups(sql, [...unknown.values()])
    // A plain bound: forgetting all of it now and then costs one query per group.
    if (known.size + unknown.size > maxRemembered) {
      seeKnown()
      known.clear()
    }
    const admitted = new Map<string, string>()
    for (const [index, [key, { topic }]] of [...unknown].entries()) {
      const id = groupIds[index]!
      const failed = known.get(key)?.failed ?? null
      known.set(key, { topic, id, usedAt: now(), failed })
      admitted.set(key, id)
    }
    return admitted
  }

  function see(topic: string, groupId: string, failed: FailedAt): void {
    const key = keyOf(topic, groupId)
    const before = seen.get(key)?.failed
    seen.set(key, { topic, group_id: groupId, failed: before === undefined ? failed : widened(before, failed) })
  }

  /** What `assignKnown` has noted. */
  function seeKnown(): void {
    for (const one of known.values()) {
      if (one.failed === null) continue
      see(one.topic, one.id, { first: new Date(one.failed.first), last: new Date(one.failed.last) })
      one.failed = null
    }
  }

  async function touch(): Promise<void> {
    if (now() - touchedAt < touchEveryMs) return
    touchedAt = now()
    seeKnown()
    // Other batches go on meanwhile, and what they see is told the next time.
    const told = seen
    seen = new Map()
    try {
      await touchGroups(sql, [...told.values()])
      await forgetEmptied([...told.values()])
    } catch (error) {
      for (const { topic, group_id, failed } of told.values()) see(topic, group_id, failed)
      throw error
    }
  }

  /** Groups that were emptied since are admitted again with their next failure, which writes their texts. */
  async function forgetEmptied(told: readonly Seen[]): Promise<void> {
    const emptied = await listWithoutTexts(sql, [...new Set(told.map(({ group_id }) => group_id))])
    if (emptied.size === 0) return
    seeKnown()
    for (const [key, { id }] of known) if (emptied.has(id)) known.delete(key)
  }

  return {
    forget() {
      known.clear()
      seen.clear()
    },
    async assign(letters) {
      const ids = letters.map(groupIdOf)
      const keys = letters.map(({ message }, index) => keyOf(message.dlq_topic, ids[index]!))
      const spans = spansOf(letters, keys, new Date())
      // Looked up once: while the database is asked, other batches may make the register forget.
      const groups = new Map<string, string>()
      const unknown = new Map<string, WantedGroup>()
      letters.forEach((letter, index) => {
        const key = keys[index]!
        if (groups.has(key) || unknown.has(key)) return
        const admitted = known.get(key)
        const at = now()
        if (admitted && at - admitted.usedAt < admittedForMs) {
          admitted.usedAt = at
          groups.set(key, admitted.id)
          return
        }
        const group = fingerprint(readableFailure(letter))
        unknown.set(key, { topic: letter.message.dlq_topic, group, failed: spans.get(key) })
      })
      if (unknown.size > 0) for (const [key, id] of await admit(unknown)) groups.set(key, id)
      letters.forEach(({ message }, index) => {
        message.group_id = groups.get(keys[index]!)!
      })
      for (const failed of spans.values()) {
        const { dlq_topic: topic, group_id } = letters[failed.at]!.message
        see(topic, group_id!, failed)
      }
      await touch()
    },
    assignKnown(letter) {
      const { message } = letter
      const one = known.get(keyOf(message.dlq_topic, groupIdOf(letter)))
      const at = now()
      if (one === undefined || at - one.usedAt >= admittedForMs) return false
      one.usedAt = at
      message.group_id = one.id
      const time = message.record_timestamp?.getTime() ?? Date.now()
      if (one.failed === null) one.failed = { first: time, last: time }
      else if (time < one.failed.first) one.failed.first = time
      else if (time > one.failed.last) one.failed.last = time
      return true
    },
  }
}

function groupIdOf(letter: DeadLetter): string {
  const trace = recognisedTrace(letter)
  const { error_class: errorClass, error_message: errorMessage } = letter.message
  return trace === null || errorClass === null
    ? fingerprintId(failureOf(letter.message))
    : knownFingerprintId({ errorClass, errorMessage }, trace)
}

/** The failure, with an abridged stack trace where there is one: it tells the same place. */
function readableFailure(letter: DeadLetter) {
  const trace = recognisedTrace(letter)
  return failureOf(trace === null ? letter.message : { ...letter.message, error_stacktrace: abridgedTrace(trace) })
}

/** When the letters of each key failed, and the place of one of them. */
function spansOf(letters: readonly DeadLetter[], keys: readonly string[], now: Date) {
  const spans = new Map<string, FailedAt & { at: number }>()
  letters.forEach(({ message }, at) => {
    const time = message.record_timestamp ?? now
    const span = spans.get(keys[at]!)
    if (span === undefined) spans.set(keys[at]!, { first: time, last: time, at })
    else if (time < span.first) span.first = time
    else if (time > span.last) span.last = time
  })
  return spans
}

/** Both spans of time together. */
function widened(a: FailedAt, b: FailedAt): FailedAt {
  const [first, , , last] = [a.first, a.last, b.first, b.last].toSorted((one, other) => +one - +other)
  return { first: first!, last: last! }
}

function keyOf(topic: string, groupId: string): string {
  return `${topic} ${groupId}`
}
