// The group of a failure whose stack trace has known frames. Class and place follow from the frames, where the lines of
// its own are messages and no more: then the group is the one that was found for these frames before.

import { abridgedTrace, type KnownTrace } from '../failure/known-traces.ts'
import { fingerprintId } from './error-fingerprint.ts'
import { rootCause } from './stack-trace.ts'

type Named = { errorClass: string; errorMessage: string }

/** By the frames, and the class that the failure names. Null: the place does not decide. */
const groups = new WeakMap<readonly string[], Map<string, string | null>>()
const maxClasses = 64

/** As `fingerprintId` of the failure with the whole trace. */
export function knownFingerprintId({ errorClass, errorMessage }: Named, trace: KnownTrace): string {
  const ofFrames = groups.get(trace.abridged) ?? new Map<string, string | null>()
  groups.set(trace.abridged, ofFrames)
  const areMessages = trace.own.every(isMessage)
  const before = areMessages ? ofFrames.get(errorClass) : null
  if (before) return before
  const errorStacktrace = abridgedTrace(trace)
  const id = fingerprintId({ errorClass, errorMessage, errorStacktrace })
  if (areMessages && before === undefined) {
    if (ofFrames.size >= maxClasses) ofFrames.clear()
    ofFrames.set(errorClass, isDecidedByFrames(errorStacktrace) ? id : null)
  }
  return id
}

/** Java's frames with a place. */
function isDecidedByFrames(trace: string): boolean {
  return trace.includes('\n\tat ') && rootCause(trace).location !== null
}

const oneLine = /^\S.*\n$/
/** What begins a cause, or another part of a trace (stack-trace.ts). */
const marker = /aused by: |\[cause\]: |---/

function isMessage(own: string): boolean {
  return own === '' || (oneLine.test(own) && !marker.test(own))
}
