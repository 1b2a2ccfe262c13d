// dlq_staleness: messages that are held until they are found to be fresh, and that a service writes to meanwhile.

import type { Fragment, Sql } from '../sql.ts'

/**
 * A part of a "with", or a statement of its own, before locked messages of these `ids` (an array) are written in the same
 * transaction: it is no change of them. Else they would not be due again once they are fresh (`writeFresh`).
 */
export function keepHeld(sql: Sql, ids: Fragment): Fragment {
  return sql`
    update dlq.dlq_staleness s set held_at = now() from dlq.dlq_messages held
    where s.message_id = any(${ids}) and held.id = s.message_id and held.id = any(${ids}) and s.held_at = held.updated_at`
}
