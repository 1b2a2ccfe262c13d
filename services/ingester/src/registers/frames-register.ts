// Which frames of stack traces are stored, so that rows refer to them. Frames are stored when they are seen for the second
// time: a program whose traces are all different would only fill the table.

import { framesId, type SplitTrace, splitTrace } from 'dlq-core/domain/failure/stack-frames.ts'
import type { NewMessage } from 'dlq-core/domain/message/new-message.ts'
import { admitFrames, framesUsedForMs, haveFrames, type WantedFrames } from 'dlq-core/queries/ingest/stack-frames.ts'
import type { Database, Transaction } from 'dlq-core/runtime/database/database.ts'

export type FramesRegister = {
  /** Learns the frames of the messages, and stores those that repeat. Call it before the transaction. */
  learn(messages: readonly NewMessage[]): Promise<void>
  /** The messages as they are stored: those whose frames are stored refer to them. */
  shorten(messages: readonly NewMessage[]): NewMessage[]
  /** In the transaction that stores shortened messages. @throws FramesGone where the database has lost their frames */
  confirm(sql: Transaction, messages: readonly NewMessage[]): Promise<void>
}

/** After it, `learn` stores the frames again, and the batch can be repeated. */
export class FramesGone extends Error {}

/** Characters of frames whose ids are remembered. */
const maxKnownChars = 4 * 2 ** 20
const maxSeenOnce = 10_000

type Known = {
  id: string
  /** False where the topic has brought too many: its rows keep their traces, until somebody asks again. */
  admitted: boolean
  askedAt: number
}

/** The whole trace's split, and its frames as one text. */
type Split = (SplitTrace & { key: string }) | null

export function createFramesRegister(sql: Database, { now }: { now: () => number }): FramesRegister {
  // By the text, because looking it up costs a fifth of hashing it with SHA-256.
  const known = new Map<string, Known>()
  let knownChars = 0
  /** The ids of frames that were seen once. */
  const seenOnce = new Set<string>()
  const splits = new WeakMap<NewMessage, Split>()

  function splitOf(message: NewMessage): Split {
    const before = splits.get(message)
    if (before !== undefined) return before
    const split = message.error_stacktrace === null ? null : splitTrace(message.error_stacktrace)
    const one = split === null ? null : { ...split, key: split.frames.join('\0') }
    splits.set(message, one)
    return one
  }

  function remember(key: string, one: Known): void {
    if (!known.has(key)) knownChars += key.length
    // A plain bound: forgetting all of it now and then costs one query.
    if (knownChars > maxKnownChars) {
      known.clear()
      knownChars = key.length
    }
    known.set(key, one)
  }

  return {
    async learn(messages) {
      const wanted = new Map<string, WantedFrames>()
      for (const message of messages) {
        const split = splitOf(message)
        if (split === null) continue
        const { key } = split
        const found = known.get(key)
        if (wanted.has(key) || (found !== undefined && now() - found.askedAt < framesUsedForMs)) continue
        const id = found?.id ?? framesId(split.frames)
        if (found === undefined && !seenOnce.has(id)) {
          if (seenOnce.size >= maxSeenOnce) seenOnce.clear()
          seenOnce.add(id)
          continue
        }
        wanted.set(key, { id, frames: split.frames, topic: message.dlq_topic })
      }
      if (wanted.size === 0) return
      const askedAt = now()
      const admitted = await admitFrames(sql, [...wanted.values()])
      for (const [key, { id }] of wanted) remember(key, { id, admitted: admitted.has(id), askedAt })
    },

    shorten(messages) {
      return messages.map((message) => {
        const split = splitOf(message)
        const found = split === null ? undefined : known.get(split.key)
        return split !== null && found?.admitted
          ? { ...message, error_stacktrace: split.own, frames_id: found.id }
          : message
      })
    },

    async confirm(sql, messages) {
      const ids = new Set(messages.map(({ frames_id }) => frames_id).filter((id) => id !== null))
      if (await haveFrames(sql, [...ids])) return
      known.clear()
      knownChars = 0
      for (const id of ids) seenOnce.add(id)
      throw new FramesGone('the database does not have the frames of stack traces that it had')
    },
  }
}
