// Times as text, with their microseconds, which the driver's times have not. Places in lists and cursors are written so.

import type { Fragment, Sql } from './sql.ts'

/** Finite ones only: `infinity` would become `infinity+00`, which is no time. */
export function exactTime(sql: Sql, time: Fragment): Fragment {
  return sql`(${time} at time zone 'UTC')::text || '+00'`
}

/** A row's place in a list that is sorted by time and id. */
export type TimePlace = { readonly at: string; readonly id: string }
