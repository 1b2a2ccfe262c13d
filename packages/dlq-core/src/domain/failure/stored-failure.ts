// What a row of dlq_messages keeps of a failure, and how much of it. The SQL function dlq.dead_letter keeps as many
// characters as this keeps bytes (db/dlq/migrations/014_add_dead_letter_functions.up.sql).

import { textForPostgres } from '../record/text-for-postgres.ts'
import type { FailureContext } from './failure-context.ts'

const maxErrorMessageBytes = 64 * 1024
const maxStacktraceBytes = 1024 * 1024
/** Of an error class, and of a consumer group. */
export const maxNameBytes = 512

/** Columns of dlq_messages. */
export type StoredFailure = {
  error_message: string
  error_class: string | null
  error_stacktrace: string | null
  consumer_group: string | null
}

/** The failure as it is stored: texts that PostgreSQL can hold, each cut to its limit. */
export function storedFailure({
  errorMessage,
  errorClass,
  errorStacktrace,
  consumerGroup,
}: Pick<FailureContext, 'errorClass' | 'errorStacktrace' | 'consumerGroup'> & { errorMessage: string }): StoredFailure {
  return {
    error_message: withoutWhole(textForPostgres(errorMessage, maxErrorMessageBytes)),
    error_class: errorClass === null ? null : withoutWhole(textForPostgres(errorClass, maxNameBytes)),
    error_stacktrace: cut(errorStacktrace, maxStacktraceBytes),
    consumer_group: cut(consumerGroup, maxNameBytes),
  }
}

const scratch = Buffer.allocUnsafeSlow(1024)

/**
 * The same text in memory of its own. V8 keeps a part of a text as a reference to the whole one: a class's name of 30
 * characters kept the stack trace of 4,500 that it was read from, until its row was stored.
 */
function withoutWhole(text: string): string {
  // Shorter ones are copied anyway; long ones are rare, and cost more.
  if (text.length < 13 || text.length * 3 > scratch.length) return text
  return scratch.toString('utf8', 0, scratch.write(text))
}

/** The failure that the columns tell, for its fingerprint. */
export function failureOf({ error_class, error_message, error_stacktrace }: Omit<StoredFailure, 'consumer_group'>) {
  return { errorClass: error_class, errorMessage: error_message, errorStacktrace: error_stacktrace }
}

function cut(text: string | null, maxBytes: number): string | null {
  return text === null ? null : textForPostgres(text, maxBytes)
}
