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

/** The first faults in a row, and how long one is known that stays the same. */
const [toldAtFirst, knownForMs] = [6, 60_000]

/**
 * Says of each fault in a row whether it is worth a line. While the database is away, each loop of a service meets the same
 * fault every few seconds.
 */
export function createFaultNews({ now = () => performance.now() } = {}): (error: unknown) => boolean {
  let count = 0
  let told = { text: '', at: 0 }
  return (error) => {
    count += 1
    const [text, at] = [String(error), now()]
    const isNews = count <= toldAtFirst || text !== told.text || at - told.at >= knownForMs
    if (isNews) told = { text, at }
    return isNews
  }
}
