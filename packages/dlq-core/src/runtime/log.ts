// Logs are JSON lines on standard output: a stable event name in "event", ids, never payloads.

import pino from 'pino'

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

/** Name, message, code, cause and stack; no own properties, because drivers put statements and parameters there. */
function serializeError(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error)
  const { name, message, stack, cause } = error
  const code = 'code' in error ? error.code : undefined
  return { name, message, code, stack, ...(cause === undefined ? {} : { cause: serializeError(cause) }) }
}
