// The present time by PostgreSQL's clock, as it goes for whoever decides when something is due or over: leases, looks and
// claims go by that clock, and this process's own may be wrong by hours
// (infra/docs/decisions/091-clocks-that-are-set.md).

import type { Sql } from '../../queries/sql.ts'
import { readDatabaseClock } from '../../queries/upkeep/clock.ts'
import { monotonicNow } from './monotonic-now.ts'

export type DatabaseClock = {
  /** By this process's own clock until the first `measure`. */
  now(): Date
  /** Asks PostgreSQL for its time: a pass of a loop. */
  measure(): Promise<{ more: false }>
}

export const measureClockMs = 30_000

export function createDatabaseClock(sql: Sql, { ownNow = Date.now } = {}): DatabaseClock {
  let aheadMs = ownNow() - monotonicNow()
  return {
    now: () => new Date(monotonicNow() + aheadMs),
    async measure() {
      const asked = monotonicNow()
      const theirs = await readDatabaseClock(sql)
      const answered = monotonicNow()
      // It was read at some time in between. Nothing is corrected by less than that is worth.
      if (theirs < asked + aheadMs || theirs > answered + aheadMs) aheadMs = theirs - (asked + answered) / 2
      return { more: false }
    },
  }
}
