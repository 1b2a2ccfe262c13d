// Takes a stack trace apart: the lines with frames, which many traces have in common, and the others, which hold messages.
// The frames are stored once (dlq_stack_frames), and a row keeps the others and a mark for each run of frames.
// dlq.whole_stack_trace puts them together again (infra/docs/decisions/044-stack-frames-stored-once.md).

import { hash } from 'node:crypto'
import { formatUuid } from '../record/message-id.ts'
import type { StoredFailure } from './stored-failure.ts'

export type SplitTrace = {
  /** The lines before each run of frames, and those behind the last one. */
  own: readonly string[]
  /** The runs of frames as they stand in the trace, ends of lines included; `errorMark` in place of the row's error. */
  frames: readonly string[]
}

/** The row's own columns of the error, which the trace need not hold again. */
export type RowError = Pick<StoredFailure, 'error_class' | 'error_message'>

/** A line of its own, which people read as "frames left out". */
export const framesMark = '\t⋮\n'
/** Among frames: "class: message" of the row's error. */
export const errorMark = '⋮⋮'
const causedBy = 'Caused by: '
/** The template of a row whose headers are whole. */
export const noHeaders = '[]'

/** Fewer characters of frames are not worth a reference. */
const minFramesChars = 512
/** More frames stay in the row. A deep recursion writes a few hundred lines. */
const maxFramesChars = 48 * 1024
const maxRuns = 64

/**
 * Splits a trace. Null where that would save little, or where it cannot be put together again exactly. Reads the
 * traces of Java, Kotlin, .NET, JavaScript and Python; others stay whole.
 */
export function splitFrames(trace: string): SplitTrace | null {
  if (trace.length < minFramesChars || trace.length > 2 * maxFramesChars) return null
  if (trace.includes(framesMark) || trace.includes(errorMark)) return null
  const frames: string[] = []
  const own: string[] = []
  let framesChars = 0
  /** Where the current run began: of frames where `inFrames`, of other lines otherwise. */
  let runAt = 0
  let inFrames = false
  let afterPlace = false
  for (let at = 0; at < trace.length; ) {
    const lineEnd = trace.indexOf('\n', at)
    const next = lineEnd === -1 ? trace.length : lineEnd + 1
    const kind = kindOfLine(trace, at, lineEnd === -1 ? trace.length : lineEnd)
    // Python writes the code below its place.
    const isFrame = kind !== 'other' || (afterPlace && isIndented(trace, at))
    afterPlace = kind === 'place'
    if (isFrame !== inFrames) {
      const runEnd = inFrames ? at + causeClassLength(trace, at) : at
      if (inFrames) framesChars += push(frames, trace.slice(runAt, runEnd))
      else own.push(trace.slice(runAt, runEnd))
      runAt = runEnd
      inFrames = isFrame
    }
    at = next
  }
  if (inFrames) framesChars += push(frames, trace.slice(runAt))
  own.push(inFrames ? '' : trace.slice(runAt))
  if (framesChars < minFramesChars || framesChars > maxFramesChars || frames.length > maxRuns) return null
  // A line with a mark's text may also have come about where a line without an end met it.
  return countMarks(storedTrace(own)) === frames.length ? { own, frames } : null
}

/** The trace as its row has it: with a mark for each run of frames. */
export function storedTrace(own: readonly string[]): string {
  return own.join(framesMark)
}

/** Without the line "Caused by: class: message" of the row's error, where it stands between frames. */
export function withoutError({ own, frames }: SplitTrace, { error_class, error_message }: RowError): SplitTrace {
  if (error_class === null) return { own, frames }
  const said = `${causedBy}${error_class}: `
  const [message, line] = [`${error_message}\n`, `${said}${error_message}\n`]
  for (let at = 1; at < own.length - 1; at++) {
    const before = frames[at - 1]!.endsWith(said) ? frames[at - 1]!.length - said.length : undefined
    if (own[at] === (before === undefined ? line : message))
      return { own: own.toSpliced(at, 1), frames: withErrorBehind(frames, at - 1, before) }
  }
  return { own, frames }
}

/** What was made of the same frames before: else each row would make a text of all of its frames. */
const madeOf = new WeakMap<readonly string[], Map<string, readonly string[]>>()

/** The frames with run number `at`, up to `end`, the error, and the next run as one. */
function withErrorBehind(frames: readonly string[], at: number, end: number | undefined): readonly string[] {
  const made = madeOf.get(frames) ?? new Map<string, readonly string[]>()
  madeOf.set(frames, made)
  const key = `${at} ${end}`
  const before = made.get(key)
  if (before !== undefined) return before
  const merged = `${frames[at]!.slice(0, end)}${causedBy}${errorMark}\n${frames[at + 1]}`
  const all = [...frames.slice(0, at), merged, ...frames.slice(at + 2)]
  made.set(key, all)
  return all
}

/**
 * A UUIDv8 of the first 128 bits of SHA-256 over the frames and the template of headers beside them (framed-headers.ts).
 * Neither holds a NUL, so no two sets make the same text.
 */
export function framesId(frames: readonly string[], headers = noHeaders): string {
  return formatUuid(hash('sha256', [...frames, headers].join('\0')), 8)
}

/** Whether a line of the text would be told as a frame. */
export function hasFrameLine(text: string): boolean {
  for (let at = 0; at < text.length; ) {
    const lineEnd = text.indexOf('\n', at)
    const end = lineEnd === -1 ? text.length : lineEnd
    if (kindOfLine(text, at, end) !== 'other') return true
    at = end + 1
  }
  return false
}

const causeClass = /Caused by: (?:[\w$]+\.)+[\w$]+: /y
const maxCauseClassChars = 512

/**
 * The length of "Caused by: class: " at the beginning of a line; 0 where it begins otherwise. The class belongs to the
 * frames: it is the same whenever a program fails there, and the message behind it is not.
 */
export function causeClassLength(trace: string, at: number): number {
  if (!trace.startsWith(causedBy, at)) return 0
  causeClass.lastIndex = at
  const length = causeClass.exec(trace)?.[0].length ?? 0
  return length > maxCauseClassChars ? 0 : length
}

function countMarks(own: string): number {
  let count = 0
  for (let at = own.indexOf(framesMark); at !== -1; at = own.indexOf(framesMark, at + framesMark.length)) count++
  return count
}

function push(frames: string[], run: string): number {
  frames.push(run)
  return run.length
}

const tab = 9
const space = 32

/**
 * `frame`: an indented line `at …`, `... 10 more` or `--- End of …`, or Spring's lines about the listener, which repeat as
 * frames do. `place`: Python's `File "…", line …`.
 */
function kindOfLine(trace: string, lineAt: number, lineEnd: number): 'frame' | 'place' | 'other' {
  let at = lineAt
  for (let code = trace.charCodeAt(at); code === tab || code === space; code = trace.charCodeAt(at)) at++
  if (at === lineAt) return isListenerLine(trace, at, lineEnd) ? 'frame' : 'other'
  switch (trace.charCodeAt(at)) {
    case 0x61: // a
      return trace.startsWith('at ', at) ? 'frame' : 'other'
    case 0x2e: // .
      return trace.startsWith('... ', at) ? 'frame' : 'other'
    case 0x2d: // -
      return trace.startsWith('--- End of ', at) ? 'frame' : 'other'
    case 0x46: // F
      return trace.startsWith('File "', at) ? 'place' : 'other'
    case 0x53: // S
      return trace.startsWith(restoredTrace, at) && at + restoredTrace.length === lineEnd ? 'frame' : 'other'
    default:
      return 'other'
  }
}

const listenerFailed = "org.springframework.kafka.listener.ListenerExecutionFailedException: Listener method '"
const listenerThrew = "' threw exception"
const restoredTrace =
  'Suppressed: org.springframework.kafka.listener.ListenerExecutionFailedException: Restored Stack Trace'
const maxListenerChars = 2048

/** Whether the line says only which method of a listener failed: its signature, and nothing of the record. */
function isListenerLine(trace: string, at: number, lineEnd: number): boolean {
  if (trace.charCodeAt(at) !== 0x6f || !trace.startsWith(listenerFailed, at) || lineEnd - at > maxListenerChars)
    return false
  const signatureAt = at + listenerFailed.length
  const threwAt = lineEnd - listenerThrew.length
  return (
    threwAt >= signatureAt && trace.startsWith(listenerThrew, threwAt) && trace.indexOf("'", signatureAt) === threwAt
  )
}

function isIndented(trace: string, at: number): boolean {
  const code = trace.charCodeAt(at)
  return code === tab || code === space
}
