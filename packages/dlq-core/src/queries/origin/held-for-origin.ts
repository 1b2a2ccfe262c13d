// Whether a message is held, as parts of a statement. Nothing but a forced retry sends one that is.

import type { Sql } from '../sql.ts'

/** Held by its route, or because it waits for its original. `m` as in `heldForOrigin`. */
export function heldUnlessForced(sql: Sql, m: '' | 'm.' = '') {
  return sql`(${sql(`${m}held_by_route`)} or ${heldForOrigin(sql, m)})`
}

/** It waits for its original. `m` is the alias of dlq_messages, with its dot; '' where the columns are plain. */
export function heldForOrigin(sql: Sql, m: '' | 'm.' = '') {
  return m === '' ? sql`(coalesce(origin_state, 0) > 10)` : sql`(coalesce(m.origin_state, 0) > 10)`
}
