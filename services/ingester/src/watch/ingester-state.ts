// What this ingester reads and what keeps it from reading or storing, for the fleet's status and for readiness.

import type { Assignment } from 'dlq-core/queries/ingest/ingesters.ts'
import { createWake } from 'dlq-core/runtime/run-loop.ts'

export type IngesterState = ReturnType<typeof createIngesterState>

export function createIngesterState() {
  const changed = createWake()
  let assignment: Assignment = []
  const faults: { read: string | null; store: string | null } = { read: null, store: null }
  const set = (what: keyof typeof faults, fault: string | null) => {
    if (faults[what] === fault) return
    faults[what] = fault
    changed.notify()
  }
  return {
    /** Notified of what others should see soon. */
    changed,
    assigned(given: Readonly<Record<string, readonly number[]>>): void {
      assignment = Object.entries(given)
        .filter(([, partitions]) => partitions.length > 0)
        .map(([topic, partitions]) => ({ topic, partitions: [...partitions].sort((a, b) => a - b) }))
        .sort((a, b) => (a.topic < b.topic ? -1 : 1))
      faults.read = null
      changed.notify()
    },
    /** The consumer ended; Kafka gives its partitions to others, or to the next one here. */
    unassigned(): void {
      assignment = []
      changed.notify()
    },
    cannotRead: (why: string) => set('read', why),
    canRead: () => set('read', null),
    cannotStore: (why: string) => set('store', why),
    canStore: () => set('store', null),
    now: () => ({ assignment, fault: faults.store ?? faults.read }),
  }
}
