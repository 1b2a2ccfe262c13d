// What the backends of the services wait for, looked at many times.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from 'dlq-core/runtime/database/database.ts'

const lookMs = 50
const shown = 3

/** Looks until `stop`, which returns the most frequent reasons, such as `LWLock:WALWrite 12 %`. */
export function sampleWaits(sql: Database): { stop(): Promise<string> } {
  const seen = new Map<string, number>()
  let looks = 0
  let isOver = false
  const looking = (async () => {
    for (; !isOver; await sleep(lookMs)) {
      const rows = await sql<{ waits: string | null }[]>`
        select wait_event_type || ':' || wait_event as waits from pg_stat_activity
         where state = 'active' and pid <> pg_backend_pid() and datname = current_database()`
      for (const { waits } of rows) {
        looks += 1
        if (waits !== null) seen.set(waits, (seen.get(waits) ?? 0) + 1)
      }
    }
  })()
  return {
    async stop() {
      isOver = true
      await looking
      const most = [...seen].toSorted(([, a], [, b]) => b - a).slice(0, shown)
      return most.map(([waits, n]) => `${waits} ${((n / looks) * 100).toFixed(0)} %`).join(', ') || 'nothing'
    },
  }
}
