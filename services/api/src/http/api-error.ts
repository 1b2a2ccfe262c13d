// Every error that leaves the API has one shape, the specification's: a stable code, a sentence, the
// request's id, and one detail per faulty field.

import { randomInt } from 'node:crypto'
import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import * as v from 'valibot'

export const statusOf = {
  SYS_DLQ_VALIDATION_ERROR: 400,
  SYS_DLQ_UNAUTHENTICATED: 401,
  SYS_DLQ_FORBIDDEN: 403,
  SYS_DLQ_NOT_FOUND: 404,
  SYS_DLQ_METHOD_NOT_ALLOWED: 405,
  SYS_DLQ_REQUEST_TIMEOUT: 408,
  SYS_DLQ_CONFLICT: 409,
  SYS_DLQ_PUBLISH_REFUSED: 409,
  SYS_DLQ_NOT_EXACT: 409,
  SYS_DLQ_PRECONDITION_FAILED: 412,
  SYS_DLQ_PAYLOAD_TOO_LARGE: 413,
  SYS_DLQ_URI_TOO_LONG: 414,
  SYS_DLQ_UNSUPPORTED_MEDIA_TYPE: 415,
  SYS_DLQ_PRECONDITION_REQUIRED: 428,
  SYS_DLQ_TOO_MANY_REQUESTS: 429,
  SYS_DLQ_HEADERS_TOO_LARGE: 431,
  SYS_DLQ_INTERNAL_ERROR: 500,
  SYS_DLQ_KAFKA_UNAVAILABLE: 503,
  SYS_DLQ_UNAVAILABLE: 503,
} as const satisfies Record<string, ContentfulStatusCode>

export type ApiErrorCode = keyof typeof statusOf
export type ErrorDetail = { field: string; message: string }

/** The body of every error. */
export const errorSchema = v.pipe(
  v.strictObject({
    error: v.strictObject({
      code: v.picklist(Object.keys(statusOf) as ApiErrorCode[]),
      message: v.string(),
      request_id: v.string(),
      details: v.array(v.strictObject({ field: v.string(), message: v.string() })),
    }),
  }),
  v.title('Error'),
)

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

/** 400 for one field. */
export function invalidField(field: string, message: string): ApiError {
  return new ApiError('SYS_DLQ_VALIDATION_ERROR', `${field}: ${message}`, [{ field, message }])
}

/** From, to: those that were refused at one moment do not all come back at another one. */
const retryAfterSeconds: Partial<Record<ApiErrorCode, readonly [least: number, most: number]>> = {
  SYS_DLQ_UNAVAILABLE: [2, 5],
  SYS_DLQ_KAFKA_UNAVAILABLE: [10, 20],
  SYS_DLQ_TOO_MANY_REQUESTS: [1, 3],
}

type ErrorParts = Pick<ApiError, 'code' | 'message' | 'details'>

/** An error in the specification's form. */
export function errorBody({ code, message, details }: ErrorParts, requestId: string) {
  return { error: { code, message, request_id: requestId, details } }
}

/** Answers with an error. */
export function sendError(c: Context, error: ErrorParts): Response {
  const { code } = error
  const retryAfter = retryAfterSeconds[code]
  if (retryAfter !== undefined) c.header('Retry-After', String(randomInt(retryAfter[0], retryAfter[1] + 1)))
  if (code === 'SYS_DLQ_UNAUTHENTICATED') c.header('WWW-Authenticate', 'Bearer')
  return c.json(errorBody(error, c.get('requestId')), statusOf[code])
}
