// What the backends of the services do, looked at many times: each one that is busy computes or waits for something.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from 'dlq-core/runtime/database/database.ts'

/** A look takes PostgreSQL about 1 ms, which is charged to the rows. */
const lookMs = 200
const shown = 3

/** Looks until `stop`, which returns what was seen most often, such as `computing 61 %, LWLock:WALWrite 12 %`. */
export function sampleWaits(sql: Database): { stop(): Promise<string> } {
  const seen = new Map<string, number>()
  let isOver = false
  const looking = (async () => {
    for (; !isOver; await sleep(lookMs)) {
      const rows = await sql<{ what: string }[]>`
        select coalesce(wait_event_type || ':' || wait_event, 'computing') as what from pg_stat_activity
         where state = 'active' and pid <> pg_backend_pid() and datname = current_database()`
      for (const { what } of rows) seen.set(what, (seen.get(what) ?? 0) + 1)
    }
  })()
  return {
    async stop() {
      isOver = true
      await looking
      const looks = [...seen.values()].reduce((sum, n) => sum + n, 0)
      const most = [...seen].toSorted(([, a], [, b]) => b - a).slice(0, shown)
      return most.map(([what, n]) => `${what} ${((n / looks) * 100).toFixed(0)} %`).join(', ') || 'nothing'
    },
  }
}
