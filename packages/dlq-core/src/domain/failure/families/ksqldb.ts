// ksqlDB's processing log: no headers; the record's value is a JSON log entry about a record that
// could not be processed, without its offset. It is not that record and can never be replayed.
// Source: ksql, ProcessingLogMessageSchema and ProcessingLogConfig; loggers are named `processing.…`.

import * as v from 'valibot'
import { type FailureContext, unknownFailure } from '../failure-context.ts'

// An entry begins with its level, logger, time and message: its kind stands in the first few hundred bytes.
const scannedBytes = 2048
const maxValueBytes = 4 * 1024 * 1024
const openingBrace = 0x7b

const detail = v.nullish(
  v.object({
    errorMessage: v.nullish(v.string()),
    cause: v.nullish(v.array(v.nullable(v.string()))),
    topic: v.nullish(v.string()),
  }),
)
const logEntry = v.object({
  logger: v.pipe(v.string(), v.startsWith('processing')),
  message: v.object({
    deserializationError: detail,
    recordProcessingError: detail,
    productionError: detail,
    serializationError: detail,
    kafkaStreamsThreadError: detail,
  }),
})

/**
 * The failure of a processing log entry: its message (the innermost cause's, where causes are listed) and,
 * for deserialization and serialization errors, the topic. Null where the value is no such entry.
 */
export function readKsqldbLogEntry(value: Buffer | null): FailureContext | null {
  if (value === null || value[0] !== openingBrace || value.length > maxValueBytes) return null
  const start = value.subarray(0, scannedBytes)
  if (!start.includes('"logger"') || !start.includes('"message"')) return null
  const entry = v.safeParse(logEntry, parseJson(value))
  if (!entry.success) return null
  const { message } = entry.output
  const error =
    message.deserializationError ??
    message.recordProcessingError ??
    message.productionError ??
    message.serializationError ??
    message.kafkaStreamsThreadError
  if (!error) return null
  const cause = error.cause?.findLast((cause) => cause !== null && cause.trim() !== '')
  return {
    ...unknownFailure,
    originalTopic: error.topic || null,
    errorMessage: cause ?? (error.errorMessage || null),
  }
}

function parseJson(value: Buffer): unknown {
  try {
    return JSON.parse(value.toString('utf8'))
  } catch {
    return null
  }
}
