// Reads stack traces whose frames are known from their bytes. Of one application's traces all differ, but most have the
// frames of one of a few dozen places: such a trace is told by comparing bytes, and only the lines of its own are decoded.
// Decoding, splitting and reading whole traces was a third of what the ingester's own code took (decision 071).

import { isAscii, isUtf8 } from 'node:buffer'
import { isDeepStrictEqual } from 'node:util'
import { isJvmLibrary } from '../grouping/library-frame.ts'
import { rootCause } from '../grouping/stack-trace.ts'
import { causeChain } from './families/error-of.ts'
import { causeClassLength, hasFrameLine, type SplitTrace } from './stack-frames.ts'

/** A trace as it was recognised. */
export type KnownTrace = SplitTrace & {
  /** The whole trace. Its parts are put together when somebody reads it, which seldom happens. */
  whole: string
  /** What `abridgedTrace` has of each run of frames. */
  abridged: readonly string[]
}

/**
 * The trace with a few frames of each run: causes, messages and places are read from it as from the whole. It is put
 * together each time, because it is needed twice, and its letter is kept for longer.
 */
export function abridgedTrace({ own, abridged }: KnownTrace): string {
  return joined(own, abridged)
}

export type KnownTraces = {
  /** Null where the trace has no known frames. */
  recognise(bytes: Buffer): KnownTrace | null
  /** Remembers the frames of a whole trace that was split. */
  learn(trace: string, split: SplitTrace): void
}

type Place = { frames: readonly string[]; runs: readonly Buffer[]; abridged: readonly string[] }

/** Traces are read to the end only up to this length (stack-trace.ts), so beyond it an abridged one may read differently. */
const maxTraceChars = 16 * 1024
const maxOwnBytes = 4096
const maxOwnLines = 64
/** Places whose traces end in the same characters. */
const maxAlike = 64
/** A plain bound: forgetting all of it now and then costs reading some traces whole. */
const maxKnownBytes = 4 * 1024 * 1024
const endBytes = 48

export function createKnownTraces(): KnownTraces {
  /** By the last bytes of the trace. The last place that was recognised stands first. */
  const byEnd = new Map<string, Place[]>()
  let bytes = 0
  return {
    recognise(trace) {
      if (trace.length < endBytes || trace.length > maxTraceChars) return null
      const places = byEnd.get(endOf(trace))
      if (places === undefined) return null
      for (const [at, place] of places.entries()) {
        const own = ownParts(trace, place.runs)
        if (own === null) continue
        if (at > 0) [places[0], places[at]] = [place, places[0]!]
        return knownTrace(own, place)
      }
      return null
    },
    learn(trace, split) {
      // First, because many traces of a batch have the same frames, and reading two versions of one takes longest.
      const end = endOf(Buffer.from(split.frames.at(-1) ?? ''))
      const others = byEnd.get(end) ?? []
      if (others.length >= maxAlike || others.some(({ frames }) => isDeepStrictEqual(frames, split.frames))) return
      const place = placeOf(trace, split)
      if (place === null) return
      const size = place.runs.reduce((sum, run) => sum + 2 * run.length, 0)
      if (bytes + size > maxKnownBytes) {
        byEnd.clear()
        bytes = 0
      }
      bytes += size
      byEnd.set(end, [...(byEnd.get(end) ?? []), place])
    },
  }
}

function endOf(bytes: Buffer): string {
  return bytes.toString('latin1', Math.max(0, bytes.length - endBytes))
}

/**
 * What stands before each of the runs, and nothing behind the last. Null where the trace is not made of them, or has other
 * frames as well.
 */
function ownParts(trace: Buffer, runs: readonly Buffer[]): string[] | null {
  const last = runs.at(-1)!
  if (!hasAt(trace, last, trace.length - last.length)) return null
  const parts: string[] = []
  let lines = 0
  let ownBytes = 0
  let at = 0
  for (const [index, run] of runs.entries()) {
    const start = at
    if (index === runs.length - 1) at = trace.length - run.length
    else
      while (!hasAt(trace, run, at)) {
        at = trace.indexOf(newline, at) + 1
        if (at === 0 || ++lines > maxOwnLines) return null
      }
    ownBytes += at - start
    if (at < start || ownBytes > maxOwnBytes) return null
    const part = ownPart(trace, start, at)
    // Only before the first run may there be nothing: two runs beside each other are one.
    if (part === null || (part === '' && index > 0)) return null
    // Behind whole lines of frames the class of a cause would be among them.
    if (index > 0 && trace[start - 1] === newline && causeClassLength(part, 0) > 0) return null
    parts.push(part)
    at += run.length
  }
  // Behind the last run.
  parts.push('')
  return parts
}

const newline = 10

function hasAt(trace: Buffer, run: Buffer, at: number): boolean {
  if (at < 0 || at + run.length > trace.length || trace[at] !== run[0]) return false
  return trace.compare(run, 0, run.length, at, at + run.length) === 0
}

/** Whole lines without frames, as they are stored; null where they would not be stored so. */
function ownPart(trace: Buffer, start: number, end: number): string | null {
  if (start === end) return ''
  if (trace[end - 1] !== newline) return null
  const bytes = trace.subarray(start, end)
  if (isAscii(bytes)) {
    const text = bytes.toString('latin1')
    return text.includes('\0') || hasFrameLine(text) ? null : text
  }
  if (!isUtf8(bytes)) return null
  const text = bytes.toString()
  // The marks of frames left out hold this character.
  return text.includes('\0') || text.includes('⋮') || hasFrameLine(text) ? null : text
}

function knownTrace(own: readonly string[], { frames, abridged }: Place): KnownTrace {
  return { own, frames, whole: joined(own, frames), abridged }
}

function joined(own: readonly string[], runs: readonly string[]): string {
  let text = ''
  for (let at = 0; at < runs.length; at++) text += own[at]! + runs[at]!
  return text
}

/** Null for a trace that ends in other lines, or that would be read differently where it is abridged. */
function placeOf(trace: string, { own, frames }: SplitTrace): Place | null {
  if (trace.length > maxTraceChars || frames.length === 0 || own.at(-1) !== '') return null
  // Texts of their own: a part of a trace would keep the whole trace in memory.
  const runs = frames.map((run) => Buffer.from(run))
  const place = { frames: runs.map((run) => run.toString()), runs, abridged: frames.map(abridge) }
  const known = knownTrace(own, place)
  const abridged = abridgedTrace(known)
  const isSame =
    known.whole === trace &&
    isDeepStrictEqual(causeChain(abridged), causeChain(trace)) &&
    isDeepStrictEqual(rootCause(abridged), rootCause(trace))
  return isSame && runs.at(-1)!.length >= endBytes ? place : null
}

const frameLine = /^\s+at (?:[^(\n]*\/)?([^(/\n]+)\(/

/** Without the frames below the first one of the application, and below the first one where all are of libraries. */
function abridge(run: string): string {
  const lines = run.match(/[^\n]*\n|[^\n]+$/g) ?? []
  const kept: string[] = []
  let [section, isOver]: [string[], boolean] = [[], false]
  const endSection = () => {
    kept.push(...(isOver ? section : section.slice(0, 1)))
    section = []
    isOver = false
  }
  for (const line of lines) {
    const method = frameLine.exec(line)?.[1]
    if (method === undefined) {
      endSection()
      kept.push(line)
    } else if (!isOver) {
      section.push(line)
      isOver = !isJvmLibrary(method)
    }
  }
  endSection()
  return kept.join('')
}
