// Finds the error that a dead letter is about. Frameworks name the outermost exception, which is often
// only their own wrapper; operators group and search by the error inside.
// Java's stack traces carry the chain of causes (Throwable.printStackTrace).

import { findMarker } from '../find-marker.ts'

/** One exception: its class, and its message where it has one. */
export type NamedError = { readonly errorClass: string; readonly errorMessage: string | null }

export type ErrorDescription = { readonly errorClass: string | null; readonly errorMessage: string | null }

/** Exceptions that only say "something inside me failed". */
const wrappers: ReadonlySet<string> = new Set([
  'java.lang.reflect.InvocationTargetException',
  'java.lang.reflect.UndeclaredThrowableException',
  'java.util.concurrent.CompletionException',
  'java.util.concurrent.ExecutionException',
  'org.springframework.kafka.listener.ListenerExecutionFailedException',
  'org.springframework.kafka.listener.BatchListenerFailedException',
  'org.springframework.kafka.listener.TimestampedException',
  'org.springframework.kafka.support.serializer.DeserializationException',
  'org.springframework.messaging.MessagingException',
  'org.springframework.messaging.MessageHandlingException',
  'org.springframework.messaging.MessageDeliveryException',
  'org.springframework.integration.transformer.MessageTransformationException',
  'org.springframework.retry.ExhaustedRetryException',
  'org.springframework.core.retry.RetryException',
  'io.smallrye.reactive.messaging.ProcessingException',
  'org.apache.kafka.common.errors.RecordDeserializationException',
])

/** Wrappers around a failed deserializer, which wraps again: the innermost cause names the error. */
const deserializationWrappers: ReadonlySet<string> = new Set([
  'org.springframework.kafka.support.serializer.DeserializationException',
  'org.apache.kafka.common.errors.RecordDeserializationException',
])

// A stack trace is read at both ends only: 5 KB is usual, 900 KB happens. The first causes are at the
// head and the root cause is at the tail, so only the middle is lost.
const scannedChars = 16 * 1024
const maxCauses = 64
const maxMessageChars = 8 * 1024
const causedBy = '\nCaused by: '
const atFirstLine = -causedBy.length
const messageEnds = ['\n\tat ', '\n\t... ', '\n\tSuppressed: ', '\n    at ']

/**
 * The error that best says what went wrong: the first of `named` (outermost first) that is no
 * wrapper; else the first such cause in the stack trace, for failed deserialization the last one;
 * else the outermost wrapper.
 */
export function errorOf(
  named: readonly { readonly errorClass: string | null; readonly errorMessage: string | null }[],
  stacktrace: string | null,
): ErrorDescription {
  const outer = named.filter(hasClass)
  const direct = outer.find((error) => !wrappers.has(error.errorClass))
  if (direct !== undefined) return describe(direct)
  const chain = causeChain(stacktrace)
  const causes = chain.filter((error) => !wrappers.has(error.errorClass))
  const deserialization = [...outer, ...chain].some((error) => deserializationWrappers.has(error.errorClass))
  const cause = (deserialization ? causes.at(-1) : causes[0]) ?? outer[0] ?? chain[0]
  return cause === undefined ? { errorClass: null, errorMessage: usefulMessage(named) } : describe(cause)
}

/**
 * The exceptions of a Java stack trace, outermost first: its first line and its "Caused by:" lines,
 * each message with all its lines. At most 16 KB at the head and at the tail are read.
 */
export function causeChain(stacktrace: string | null): NamedError[] {
  if (stacktrace === null) return []
  if (stacktrace.length <= 2 * scannedChars) return readCauses(stacktrace, atFirstLine)
  const head = readCauses(stacktrace.slice(0, scannedChars), atFirstLine)
  const tail = stacktrace.slice(-scannedChars)
  return [...head, ...readCauses(tail, tail.indexOf(causedBy))]
}

/** Null for a message without information: empty, the class name again, or a wrapper's "… threw exception; ". */
function describe({ errorClass, errorMessage }: NamedError): ErrorDescription {
  const says = errorMessage !== null && errorMessage.trim() !== '' && errorMessage !== errorClass
  return { errorClass, errorMessage: says && !endsInNothing(errorMessage) ? errorMessage : null }
}

function usefulMessage(named: readonly { readonly errorMessage: string | null }[]): string | null {
  return named.find(({ errorMessage }) => errorMessage !== null && errorMessage.trim() !== '')?.errorMessage ?? null
}

function endsInNothing(message: string): boolean {
  return message.endsWith('threw exception; ') || message.endsWith('Listener failed; ')
}

function hasClass(error: {
  readonly errorClass: string | null
  readonly errorMessage: string | null
}): error is NamedError {
  return error.errorClass !== null
}

/** Reads from the "Caused by:" at `start`; a stack trace's first line reads as if one stood in front of it. */
function readCauses(trace: string, start: number): NamedError[] {
  const causes: NamedError[] = []
  for (let count = 0; start !== -1 && count < maxCauses; count++) {
    const next = findMarker(trace, causedBy, start + causedBy.length)
    const cause = readCause(trace.slice(start + causedBy.length, next === -1 ? undefined : next))
    if (cause !== null) causes.push(cause)
    start = next
  }
  return causes
}

/** Reads `class: message` or `class`, followed by frames. Null where it does not begin with a class name. */
function readCause(lines: string): NamedError | null {
  const whole = withoutFrames(lines)
  const colon = whole.indexOf(': ')
  const errorClass = colon === -1 ? whole : whole.slice(0, colon)
  if (errorClass.length > 512 || !/^[^\s:[\]]+$/.test(errorClass)) return null
  return { errorClass, errorMessage: colon === -1 ? null : whole.slice(colon + 2, colon + 2 + maxMessageChars) }
}

/** Cut at the nearest end; as the usual end comes first and is near, the others are sought in a few characters. */
function withoutFrames(lines: string): string {
  let whole = lines
  for (const end of messageEnds) {
    const at = whole.indexOf(end)
    if (at !== -1) whole = whole.slice(0, at)
  }
  return whole.length === lines.length ? withoutNewline(lines) : withoutReturn(whole)
}

function withoutNewline(lines: string): string {
  return lines.endsWith('\n') ? withoutReturn(lines.slice(0, -1)) : lines
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line
}
