// The API's errors for what the server could not read as a request, in the form of all others.

import { maxHeaderSize } from 'node:http'
import type { Log } from 'dlq-core/runtime/log.ts'
import type { Unread, UnreadAnswer } from 'dlq-core/runtime/operations-server.ts'
import { type ApiErrorCode, errorBody, statusOf } from '../http/api-error.ts'
import { newRequestId } from '../http/observe-requests.ts'
import { securityHeaders } from './security-headers.ts'

const errors: Record<Unread, { code: ApiErrorCode; message: string }> = {
  malformed: { code: 'SYS_DLQ_VALIDATION_ERROR', message: 'the request is malformed: its first line or its headers' },
  'too-long': {
    code: 'SYS_DLQ_HEADERS_TOO_LARGE',
    message: `the path, the query and the headers are together longer than ${maxHeaderSize} bytes`,
  },
  late: { code: 'SYS_DLQ_REQUEST_TIMEOUT', message: 'the request has not come in time' },
  failed: { code: 'SYS_DLQ_INTERNAL_ERROR', message: 'internal error' },
}

export function createRefuseUnread(log: Log) {
  return function refuseUnread(unread: Unread): UnreadAnswer {
    const { code, message } = errors[unread]
    const requestId = newRequestId()
    log.debug({ unread, requestId }, 'request_unread')
    return {
      status: statusOf[code],
      headers: { ...securityHeaders, 'Content-Type': 'application/json', 'X-Request-Id': requestId },
      body: JSON.stringify(errorBody({ code, message, details: [] }, requestId)),
    }
  }
}
