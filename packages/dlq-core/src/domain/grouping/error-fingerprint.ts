// Decides which dead letters fail for the same reason: the same class at the same place in the
// application's code, or with the same message if no stack trace tells the place. The topic does not
// count: one mistake in three topics is one group, and a filter shows each topic.
import { hash } from 'node:crypto'
import type { FailureContext } from '../failure/failure-context.ts'
import { formatUuid } from '../record/message-id.ts'
import { normaliseMessage } from './normalised-message.ts'
import { rootCause } from './stack-trace.ts'

/** Raised whenever the same failure would get another id, so that old groups can be recognised. */
const fingerprintVersion = 1

/** All texts are ones that PostgreSQL can hold, on one line. */
export type Fingerprint = {
  /** A UUIDv8 derived from the version, the class, and the location or else the message. */
  readonly id: string
  readonly version: number
  /** The root cause's class; null where unknown. At most 256 characters. */
  readonly errorClass: string | null
  /** The application's frame nearest to the root cause, without line numbers. At most 300 characters. */
  readonly location: string | null
  /** The root cause's message without numbers, ids, dates and quoted values; '' where unknown. At most 512 characters. */
  readonly message: string
  /** For people, at most 160 characters; the same for every failure with this id. */
  readonly title: string
}

const maxClassChars = 256
const maxLocationChars = 300
const maxTitleChars = 160

type Failed = Pick<FailureContext, 'errorClass' | 'errorMessage' | 'errorStacktrace'>

/**
 * Returns the group that a failure belongs to. Never throws, and reads at most 2 KB of the
 * message and 20 KB of the stack trace. The order, place before message, is Sentry's
 * (https://docs.sentry.io/concepts/data-management/event-grouping/).
 */
export function fingerprint(failure: Failed): Fingerprint {
  const { message, ...place } = readParts(failure)
  const parts = { ...place, message: normaliseMessage(message) }
  return { id: groupId(parts), version: fingerprintVersion, ...parts, title: titleOf(parts) }
}

/** The id alone. If a place decides, it costs two thirds, because the message is not read. */
export function fingerprintId(failure: Failed): string {
  const { message, ...place } = readParts(failure)
  return groupId({ ...place, message: place.location === null ? normaliseMessage(message) : '' })
}

type Parts = Pick<Fingerprint, 'errorClass' | 'location' | 'message'>

/** The message as it came. */
function readParts({ errorClass: givenClass, errorMessage: givenMessage, errorStacktrace }: Failed): Parts {
  const root = errorStacktrace === null ? null : rootCause(errorStacktrace)
  // A header names the error that reached the consumer. A deeper cause in the trace comes first.
  const [errorClass, message] = root?.nested
    ? [root.errorClass ?? givenClass, root.message ?? (root.errorClass === null ? givenMessage : null)]
    : [givenClass ?? root?.errorClass, givenMessage ?? root?.message]
  return {
    errorClass: oneLine(errorClass, maxClassChars),
    location: oneLine(root?.location, maxLocationChars),
    message: message ?? '',
  }
}

/**
 * A UUIDv8 (RFC 9562, section 5.8 and the name-based example of appendix B.2) of the first
 * 128 bits of SHA-256 over the parts. None of them holds a line break, so no two sets of
 * parts make the same text.
 */
function groupId({ errorClass, location, message }: Parts): string {
  const place = location === null ? `message\n${message}` : `location\n${location}`
  const text = `${fingerprintVersion}\n${errorClass ?? ''}\n${place}`
  const before = knownIds.get(text)
  if (before !== undefined) return before
  const id = formatUuid(hash('sha256', text), 8)
  if (knownIds.size >= maxKnownIds) knownIds.clear()
  knownIds.set(text, id)
  return id
}

/** Most failures are like others that came shortly before. */
const knownIds = new Map<string, string>()
const maxKnownIds = 1000

function titleOf({ errorClass, location, message }: Parts): string {
  const name = errorClass === null ? null : shortClass(errorClass)
  const title =
    location !== null
      ? `${name ?? 'Error'} in ${shortLocation(location)}`
      : [name, message].filter((part) => part !== null && part !== '').join(': ') || 'Unknown error'
  return title.length > maxTitleChars ? `${title.slice(0, maxTitleChars - 1).toWellFormed()}…` : title
}

function shortClass(errorClass: string): string {
  return errorClass.slice(errorClass.lastIndexOf('.') + 1) || errorClass
}

/** `OrderService.process` of a qualified method; a place with a file or an import path stays whole. */
function shortLocation(location: string): string {
  return /[ /(]/.test(location) ? location : location.split('.').slice(-2).join('.')
}

/** Null where nothing is left. */
function oneLine(text: string | null | undefined, maxChars: number): string | null {
  if (!text) return null
  const line = text
    .slice(0, maxChars)
    .toWellFormed()
    .replace(/[\s\0]{2,}|[^\S ]|\0/g, ' ')
    .trim()
  return line === '' ? null : line
}

/** The group for failures of a topic that has too many different groups already. */
export const overflowGroup: Fingerprint = {
  id: groupId({ errorClass: null, location: null, message: '<overflow>' }),
  version: fingerprintVersion,
  errorClass: null,
  location: null,
  message: '',
  title: 'Other errors: the topic has too many different ones to tell apart',
}
