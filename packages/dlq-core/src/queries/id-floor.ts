// The smallest id of a time, where it is computed for many rows.

import type { Fragment, Sql } from './sql.ts'

/**
 * As dlq.uuid_floor, of an expression of type timestamptz from the year 1970 on. PostgreSQL does not inline that function,
 * and a call takes longer than going down an index.
 */
export function idFloor(sql: Sql, time: Fragment): Fragment {
  return sql`(lpad(to_hex((extract(epoch from ${time}) * 1000)::bigint), 12, '0') || '00000000000000000000')::uuid`
}
