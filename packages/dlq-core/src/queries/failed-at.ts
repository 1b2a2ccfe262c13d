// When a message failed: when its dead letter was written, which may be a day before it was stored. The columns hold when
// it was stored; a wrong clock in the future does not count (infra/docs/decisions/043-when-a-message-failed.md).

import type { Sql } from './sql.ts'

/** Of a row `m`. */
export function firstFailedAt(sql: Sql) {
  return sql`least(m.first_failed_at, m.record_timestamp)`
}

/** Of a row `m`. The time of the record is that of its first failure; later ones are noted as they are stored. */
export function lastFailedAt(sql: Sql) {
  return sql`case when m.failure_count = 1 then least(m.last_failed_at, m.record_timestamp) else m.last_failed_at end`
}
