// Every error that leaves the API has one shape, the specification's: a stable code, a sentence, the
// request's id, and one detail per faulty field.

import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'

const statusOf = {
  SYS_DLQ_VALIDATION_ERROR: 400,
  SYS_DLQ_NOT_FOUND: 404,
  SYS_DLQ_CONFLICT: 409,
  SYS_DLQ_PAYLOAD_TOO_LARGE: 413,
  SYS_DLQ_INTERNAL_ERROR: 500,
  SYS_DLQ_KAFKA_UNAVAILABLE: 503,
  SYS_DLQ_UNAVAILABLE: 503,
} as const satisfies Record<string, ContentfulStatusCode>

export type ApiErrorCode = keyof typeof statusOf
export type ErrorDetail = { field: string; message: string }

/** A fault that the client is told about, word for word. */
export class ApiError extends Error {
  readonly code: ApiErrorCode
  readonly details: readonly ErrorDetail[]

  constructor(code: ApiErrorCode, message: string, details: readonly ErrorDetail[] = []) {
    super(message)
    this.name = 'ApiError'
    this.code = code
    this.details = details
  }
}

export function notFound(id: string): ApiError {
  return new ApiError('SYS_DLQ_NOT_FOUND', `dlq message not found: ${id}`)
}

/** Answers with an error in the specification's form. */
export function sendError(
  c: Context,
  { code, message, details }: Pick<ApiError, 'code' | 'message' | 'details'>,
): Response {
  if (code === 'SYS_DLQ_UNAVAILABLE') c.header('Retry-After', '2')
  return c.json({ error: { code, message, request_id: c.get('requestId'), details } }, statusOf[code])
}
