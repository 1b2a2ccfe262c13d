// dlq_messages: what retriers hold, by their slots. A partition that was never analyzed seems to be full of rows with a
// slot, and PostgreSQL would look for them in all of a larger index. So rows are sought slot by slot.

import type { Sql } from './sql.ts'

/** A subquery of the messages that slots hold. */
export function heldBySlots(sql: Sql) {
  return sql`(
    select held.* from dlq.dlq_slots s cross join lateral (
      -- "offset 0" keeps other conditions out of it.
      select m.original_topic, m.dlq_topic, m.consumer_group, m.target_topic, m.run_id, m.status
      from dlq.dlq_messages m where m.lease_slot = s.slot offset 0) held)`
}
