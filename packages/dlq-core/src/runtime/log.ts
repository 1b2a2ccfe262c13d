// Logs are JSON lines on standard output: a stable event name in "event", ids, never payloads.

import pino from 'pino'
import { isSchemaOlder, wantsMigrations } from './database/database-errors.ts'

export type Log = pino.Logger

export function createLog({ service, level }: { service: string; level: string }): Log {
  return pino({
    level,
    base: { service },
    messageKey: 'event',
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (level) => ({ level }) },
    serializers: { error: serializeError },
  })
}

/** Name, message, code, hint, cause and stack; no own properties, because drivers put statements and parameters there. */
export function serializeError(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error)
  const { name, message, stack, cause } = error
  const code = 'code' in error ? error.code : undefined
  const hint = isSchemaOlder(error) ? `the database ${wantsMigrations}` : undefined
  return { name, message, code, hint, stack, ...(cause === undefined ? {} : { cause: serializeError(cause) }) }
}
