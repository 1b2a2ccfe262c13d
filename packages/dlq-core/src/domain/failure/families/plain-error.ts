// The specification's convention: a header `error` holds the failure's message; without it the message
// is "unknown error". The name is common, so every other family is tried first.

import { unknownFailure } from '../failure-context.ts'
import { text } from './decode.ts'
import type { FamilyParser } from './family.ts'
import { type HeaderIndex, lastValue } from './header-index.ts'

export const plainErrorHeader = 'error'

/** The message of a dead letter without failure headers (the specification, ingestion, step 3). */
export const unknownError = 'unknown error'

/** Reads the last `error` header; an empty or null one counts as missing. */
export const plainError: FamilyParser = {
  family: 'plain-error',
  names: [plainErrorHeader],
  marks: [plainErrorHeader],
  placement: 'appends',
  coordinates: 'newest',
  isPresent: (index) => message(index) !== '',
  parse: (index) => ({ ...unknownFailure, errorMessage: message(index) }),
}

function message(index: HeaderIndex): string {
  return text(lastValue(index, plainErrorHeader)) ?? ''
}
