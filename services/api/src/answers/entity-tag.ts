// Entity tags (RFC 9110, section 8.8): a client sends the tag of what it has read, and its change is refused where
// somebody else was faster.

import { hash } from 'node:crypto'
import { ApiError } from '../http/api-error.ts'

/** The tag of a value: the same for the same JSON. */
export function tagOf(value: unknown): string {
  return `"${hash('sha256', JSON.stringify(value), 'base64url').slice(0, 22)}"`
}

/** If-Match (RFC 9110, section 13.1.1): "*", or a list of strong tags. */
function matchesTag(ifMatch: string, etag: string): boolean {
  return ifMatch.trim() === '*' || ifMatch.split(',').some((tag) => tag.trim() === etag)
}

/** `etag`: null where the thing does not exist. @throws {ApiError} 412 where the header names another one */
export function requireTag(ifMatch: string | undefined, etag: string | null, what: string): void {
  if (ifMatch !== undefined && (etag === null || !matchesTag(ifMatch, etag)))
    throw new ApiError('SYS_DLQ_PRECONDITION_FAILED', `${what} has changed since it was read; read it again`)
}

/** If-Match, and If-None-Match: `*`. @throws {ApiError} 412 where the thing is not the one of the tag, or is there */
export function requireConditions(
  headers: { 'if-match'?: string | undefined; 'if-none-match'?: '*' | undefined },
  etag: string | null,
  what: string,
): void {
  requireTag(headers['if-match'], etag, what)
  // It is not to be replaced by who knows nothing of it.
  if (headers['if-none-match'] !== undefined && etag !== null)
    throw new ApiError('SYS_DLQ_PRECONDITION_FAILED', `${what} exists by now; read it first`)
}
