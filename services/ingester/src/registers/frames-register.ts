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
  frames: readonly string[]
  /** False where the topic has brought too many: its rows keep their traces, until somebody asks again. */
  admitted: boolean
  askedAt: number
}

export function createFramesRegister(sql: Database, { now }: { now: () => number }): FramesRegister {
  const known = createKnownFrames()
  /** The signatures of frames that were seen once: a hash of all of them would cost more than all else that is done here. */
  const seenOnce = new Set<number>()
  const splits = new WeakMap<NewMessage, SplitTrace | null>()

  function splitOf(message: NewMessage): SplitTrace | null {
    const before = splits.get(message)
    if (before !== undefined) return before
    const split = message.error_stacktrace === null ? null : splitTrace(message.error_stacktrace)
    splits.set(message, split)
    return split
  }

  return {
    async learn(messages) {
      const wanted = new Map<string, WantedFrames>()
      for (const message of messages) {
        const split = splitOf(message)
        if (split === null) continue
        const found = known.find(split.frames)
        if (found !== undefined && now() - found.askedAt < framesUsedForMs) continue
        const signature = signatureOf(split.frames)
        if (found === undefined && !seenOnce.has(signature)) {
          if (seenOnce.size >= maxSeenOnce) seenOnce.clear()
          seenOnce.add(signature)
          continue
        }
        const id = found?.id ?? framesId(split.frames)
        if (!wanted.has(id)) wanted.set(id, { id, frames: split.frames, topic: message.dlq_topic })
      }
      if (wanted.size === 0) return
      const askedAt = now()
      const admitted = await admitFrames(sql, [...wanted.values()])
      for (const { id, frames } of wanted.values()) known.add({ id, frames, admitted: admitted.has(id), askedAt })
    },

    shorten(messages) {
      return messages.map((message) => {
        const split = splitOf(message)
        const found = split === null ? undefined : known.find(split.frames)
        return split !== null && found?.admitted
          ? { ...message, error_stacktrace: split.own, frames_id: found.id }
          : message
      })
    },

    async confirm(sql, messages) {
      const ids = new Set(messages.map(({ frames_id }) => frames_id).filter((id) => id !== null))
      if (await haveFrames(sql, [...ids])) return
      for (const signature of known.clear()) seenOnce.add(signature)
      throw new FramesGone('the database does not have the frames of stack traces that it had')
    },
  }
}

/** As many sets of frames with one signature are remembered; others stay in their rows. */
const maxAlike = 8

/**
 * The frames that were asked about. They are looked up by a sample of their characters and then compared, because
 * making one text of them, or hashing all of them, takes several times as long.
 */
function createKnownFrames() {
  const bySignature = new Map<number, Known[]>()
  let chars = 0
  /** Returns the signatures of what was known. */
  const clear = (): number[] => {
    const signatures = [...bySignature.keys()]
    bySignature.clear()
    chars = 0
    return signatures
  }
  return {
    find(frames: readonly string[]): Known | undefined {
      return bySignature.get(signatureOf(frames))?.find((one) => areSame(one.frames, frames))
    },
    add(one: Known): void {
      // Texts of their own: a part of a trace would keep the whole trace in memory.
      const frames = one.frames.map((run) => Buffer.from(run).toString())
      chars += frames.reduce((sum, run) => sum + run.length, 0)
      // A plain bound: forgetting all of it now and then costs one query.
      if (chars > maxKnownChars) clear()
      const signature = signatureOf(frames)
      const others = (bySignature.get(signature) ?? []).filter(({ id }) => id !== one.id)
      bySignature.set(signature, [{ ...one, frames }, ...others].slice(0, maxAlike))
    },
    clear,
  }
}

function areSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((run, index) => run === others[index])
}

const samples = 12

function signatureOf(frames: readonly string[]): number {
  let signature = frames.length
  for (const run of frames) {
    signature = Math.imul(signature ^ run.length, 0x9e3779b1)
    for (let at = 1; at <= samples; at++) {
      signature = Math.imul(signature ^ run.charCodeAt(Math.floor((run.length * at) / (samples + 1))), 0x85ebca6b)
      signature ^= signature >>> 15
    }
  }
  return signature
}
