// How long events and deliveries are kept, by whichever clock is behind: one that is ahead must not decide what is deleted.

import type { Sql } from '../sql.ts'

export const keptMs = 30 * 86_400_000

/** `now`: the caller's clock. */
export type Forgetting = { keptMs: number; now: Date; limit: number }

/** What is older is forgotten. */
export function keptSince(sql: Sql, { keptMs, now }: Pick<Forgetting, 'keptMs' | 'now'>) {
  return sql`least(${now}::timestamptz, now()) - ${keptMs}::float8 * interval '1 ms'`
}
