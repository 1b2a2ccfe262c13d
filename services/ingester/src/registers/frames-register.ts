// Which frames of stack traces, and which templates of headers beside them, are stored, so that rows refer to them. They
// are stored when they are seen for the second time: a program whose traces are all different would only fill the table.

import type { FramedHeaders } from 'dlq-core/domain/failure/framed-headers.ts'
import { createKnownTraces, type KnownTraces } from 'dlq-core/domain/failure/known-traces.ts'
import {
  framesId,
  noHeaders,
  type SplitTrace,
  splitFrames,
  storedTrace,
  withoutError,
} from 'dlq-core/domain/failure/stack-frames.ts'
import { type DeadLetter, type NewMessage, recognisedTrace } from 'dlq-core/domain/message/new-message.ts'
import { admitFrames, framesUsedForMs, haveFrames, type WantedFrames } from 'dlq-core/queries/ingest/stack-frames.ts'
import type { Database, Transaction } from 'dlq-core/runtime/database/database.ts'

export type FramesRegister = {
  /** Recognises traces whose frames are stored. */
  traces: KnownTraces
  /** Learns the frames of the letters, and stores those that repeat. Call it before the transaction. */
  learn(letters: readonly Letter[]): Promise<void>
  /** The messages as they are stored: those whose frames are stored refer to them. */
  shorten(messages: readonly NewMessage[]): NewMessage[]
  /** Shortens the letter's message in place, where its frames are known. False where they have to be learnt first. */
  shortenKnown(letter: Letter): boolean
  /**
   * In the transaction that stores them shortened. `others`: frames of further rows.
   *
   * @throws FramesGone where the database has lost their frames
   */
  confirm(sql: Transaction, messages: readonly NewMessage[], others?: ReadonlySet<string>): Promise<void>
}

type Letter = Pick<DeadLetter, 'message' | 'framedHeaders' | 'trace'>

/** After it, `learn` stores the frames again, and the batch can be repeated. */
export class FramesGone extends Error {}

/** Characters of frames whose ids are remembered. */
const maxKnownChars = 4 * 2 ** 20
const maxSeenOnce = 10_000

/**
 * What a row may refer to: none of the frames where its trace is whole, `noHeaders` where its headers are. `signature`:
 * by which it is looked up.
 */
type Frames = { frames: readonly string[]; headers: string; signature: number }

/** `found`: what the last search gave. It holds until the known frames change. */
type Sought = Frames & { found: { known: Known | undefined; changes: number } | null }

/** Frames, and the columns of a message without them. */
type Part = { frames: Sought; columns: Partial<Pick<NewMessage, 'error_stacktrace' | 'record_headers'>> }

/**
 * `parts`: what may be left out of a message, the most first. Where names in headers vary from one message to the next,
 * the frames alone still repeat. `unread`: its trace, with all lines of its own, where that was not recognised.
 */
type Split = { parts: readonly Part[]; unread: SplitTrace | null; chosen: Chosen | null | undefined }

/** The part that the message is stored without, from when somebody asked until its frames are learnt again. */
type Chosen = Part['columns'] & { frames_id: string }

type Known = Frames & {
  id: string
  /** False where the topic has brought too many: its rows keep their traces, until somebody asks again. */
  admitted: boolean
  askedAt: number
}

export function createFramesRegister(sql: Database, { now }: { now: () => number }): FramesRegister {
  const known = createKnownFrames()
  const traces = createKnownTraces()
  /** The signatures of frames that were seen once: a hash of all of them would cost more than all else that is done here. */
  const seenOnce = new Set<number>()
  const splits = new WeakMap<NewMessage, Split>()

  function splitOf(letter: Letter): Split {
    const before = splits.get(letter.message)
    if (before !== undefined) return before
    const split = splitLetter(letter)
    splits.set(letter.message, split)
    return split
  }

  function chosenOf(message: NewMessage): Chosen | null {
    const split = splitOf({ message, framedHeaders: null, trace: null })
    if (split.chosen === undefined) split.chosen = choose(split)
    return split.chosen
  }

  function choose({ parts }: Split): Chosen | null {
    for (const { frames, columns } of parts) {
      const found = known.find(frames)
      if (found?.admitted) return { ...columns, frames_id: found.id }
    }
    return null
  }

  function isFresh(found: Known | undefined): boolean {
    return found !== undefined && now() - found.askedAt < framesUsedForMs
  }

  /** What is to be stored, or noted as used again, because of this message. Null where nothing is. */
  function soughtOf({ parts }: Split): { frames: Frames; found: Known | undefined } | null {
    for (const { frames } of parts) {
      const found = known.find(frames)
      if (found !== undefined) return isFresh(found) ? null : { frames, found }
      if (!isFirst(frames)) return { frames, found }
    }
    return null
  }

  /** Whether the frames were not seen before. They are from now on. */
  function isFirst({ signature }: Frames): boolean {
    if (seenOnce.has(signature)) return false
    if (seenOnce.size >= maxSeenOnce) seenOnce.clear()
    seenOnce.add(signature)
    return true
  }

  return {
    traces,
    async learn(letters) {
      const wanted = new Map<string, WantedFrames>()
      for (const letter of letters) {
        const split = splitOf(letter)
        split.chosen = undefined
        const sought = soughtOf(split)
        if (sought === null) continue
        const { frames, headers } = sought.frames
        const id = sought.found?.id ?? framesId(frames, headers)
        if (!wanted.has(id)) wanted.set(id, { id, frames, headers, topic: letter.message.dlq_topic })
        if (split.unread !== null) traces.learn(letter.message.error_stacktrace!, split.unread)
      }
      if (wanted.size === 0) return
      const askedAt = now()
      const admitted = await admitFrames(sql, [...wanted.values()])
      for (const { id, frames, headers } of wanted.values())
        known.add({ id, frames, headers, admitted: admitted.has(id), askedAt })
    },

    shorten(messages) {
      return messages.map((message) => {
        const chosen = chosenOf(message)
        return chosen === null ? message : { ...message, ...chosen }
      })
    },

    shortenKnown(letter) {
      const split = splitLetter(letter)
      const first = split.parts[0]
      if (first !== undefined && !isFresh(known.find(first.frames))) return false
      const chosen = choose(split)
      if (chosen !== null) Object.assign(letter.message, chosen)
      return true
    },

    async confirm(sql, messages, others = new Set()) {
      const ids = new Set(others)
      for (const message of messages) {
        const chosen = chosenOf(message)
        if (chosen !== null) ids.add(chosen.frames_id)
      }
      if (await haveFrames(sql, [...ids])) return
      for (const signature of known.clear()) seenOnce.add(signature)
      throw new FramesGone('the database does not have the frames of stack traces that it had')
    },
  }
}

function splitLetter(letter: Letter): Split {
  const { message, framedHeaders } = letter
  const { error_stacktrace: whole } = message
  const known = recognisedTrace(letter)
  const found = known ?? (whole === null ? null : splitFrames(whole))
  const trace = found === null ? null : withoutError(found, message)
  const parts = partsOf(trace, framedHeaders, known === null ? soughtFrames : sharedFrames)
  return { parts, unread: known === null ? found : null, chosen: undefined }
}

function partsOf(trace: SplitTrace | null, framed: FramedHeaders | null, of: typeof soughtFrames): Part[] {
  const ofTrace = trace === null ? {} : { error_stacktrace: storedTrace(trace.own) }
  const parts: Part[] = []
  if (framed !== null)
    parts.push({
      frames: of(trace?.frames ?? noFrames, framed.template),
      columns: { ...ofTrace, record_headers: framed.stored },
    })
  if (trace !== null) parts.push({ frames: of(trace.frames, noHeaders), columns: ofTrace })
  return parts
}

const noFrames: readonly string[] = []

function soughtFrames(frames: readonly string[], headers: string): Sought {
  return { frames, headers, signature: signatureOf(frames, headers), found: null }
}

const shared = new WeakMap<readonly string[], Map<string, Sought>>()
/** Of the templates beside the same frames. */
const maxShared = 64

/** The same for all rows with these frames, where the frames of all of them are the same list (known-traces.ts). */
function sharedFrames(frames: readonly string[], headers: string): Sought {
  const byHeaders = shared.get(frames) ?? new Map<string, Sought>()
  shared.set(frames, byHeaders)
  const before = byHeaders.get(headers)
  if (before !== undefined) return before
  if (byHeaders.size >= maxShared) byHeaders.clear()
  const made = soughtFrames(frames, headers)
  byHeaders.set(headers, made)
  return made
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
  let changes = 0
  /** Returns the signatures of what was known. */
  const clear = (): number[] => {
    const signatures = [...bySignature.keys()]
    bySignature.clear()
    chars = 0
    changes++
    return signatures
  }
  return {
    find(sought: Sought): Known | undefined {
      if (sought.found?.changes === changes) return sought.found.known
      const known = bySignature.get(sought.signature)?.find((one) => areSame(one, sought))
      sought.found = { known, changes }
      return known
    },
    add(one: Omit<Known, 'signature'>): void {
      changes++
      // Texts of their own: a part of a trace would keep the whole trace in memory.
      const frames = one.frames.map((run) => Buffer.from(run).toString())
      chars += frames.reduce((sum, run) => sum + run.length, one.headers.length)
      // A plain bound: forgetting all of it now and then costs one query.
      if (chars > maxKnownChars) clear()
      const signature = signatureOf(frames, one.headers)
      const others = (bySignature.get(signature) ?? []).filter(({ id }) => id !== one.id)
      bySignature.set(signature, [{ ...one, frames, signature }, ...others].slice(0, maxAlike))
    },
    clear,
  }
}

function areSame(one: Frames, other: Frames): boolean {
  return (
    one.headers === other.headers &&
    one.frames.length === other.frames.length &&
    one.frames.every((run, index) => run === other.frames[index])
  )
}

const samples = 12

/** Of frames a sample, because two sets differ in many places. Of a template all, because two may differ in one digit. */
function signatureOf(frames: readonly string[], headers: string): number {
  let signature = frames.length
  for (const run of frames) {
    signature = Math.imul(signature ^ run.length, 0x9e3779b1)
    for (let at = 1; at <= samples; at++)
      signature = mix(signature, run.charCodeAt(Math.floor((run.length * at) / (samples + 1))))
  }
  for (let at = 0; at < headers.length; at++) signature = mix(signature, headers.charCodeAt(at))
  return signature
}

function mix(signature: number, code: number): number {
  const mixed = Math.imul(signature ^ code, 0x85ebca6b)
  return mixed ^ (mixed >>> 15)
}
