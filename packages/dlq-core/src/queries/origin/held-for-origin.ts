// Whether a message waits for its original, as part of a statement: then nothing but a forced retry sends it.

import type { Sql } from '../sql.ts'

/** `m` is the alias of dlq_messages, with its dot; '' where the columns are plain. */
export function heldForOrigin(sql: Sql, m: '' | 'm.' = '') {
  return m === '' ? sql`(coalesce(origin_state, 0) > 10)` : sql`(coalesce(m.origin_state, 0) > 10)`
}
