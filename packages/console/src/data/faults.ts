// Whatever was thrown, as what a page can show.

import { DlqApiError } from 'dlq-client/api-client.ts'

export type PageFault = {
  message: string
  /** "SYS_DLQ_CONFLICT" …; null where another than the API answered. */
  code: string | null
  requestId: string | null
  details: readonly { field: string; message: string }[]
  /** 0 where no answer came. */
  status: number
}

const withoutAnswer: ReadonlySet<number> = new Set([0, 502, 504])

/** No answer came, or that of a proxy which got none: what was asked for may be done. */
export function isAnswerLost({ status }: PageFault): boolean {
  return withoutAnswer.has(status)
}

/** What begins the sentence about a change that failed. */
export function changeWords(fault: PageFault): string {
  return isAnswerLost(fault) ? 'It may have been done all the same' : 'Not done'
}

/** Answers that another request would not change. */
export function isFinal(error: unknown): boolean {
  return error instanceof DlqApiError && error.status >= 400 && error.status < 500 && error.status !== 429
}

/** Longer is not waited, because a page is to show soon that the API is back. */
const maxToldWaitMs = 60_000

/** How long the answer asks to wait before the next request (Retry-After). */
export function toldWaitMs(error: unknown): number {
  return error instanceof DlqApiError ? Math.min(error.retryAfterMs ?? 0, maxToldWaitMs) : 0
}

export function faultOf(error: unknown): PageFault {
  if (error instanceof DlqApiError) {
    const { message, code, requestId, details, status } = error
    return { message, code, requestId, details, status }
  }
  const offline = error instanceof TypeError
  const message = offline ? 'the API does not answer' : error instanceof Error ? error.message : String(error)
  return { message, code: null, requestId: null, details: [], status: 0 }
}
