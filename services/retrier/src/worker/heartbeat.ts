// The heartbeat of this pool of graphile-worker. It tells other retriers that the pool lives, and tells this process when
// they may take it for dead.

import { beatWorker, registerWorker } from 'dlq-core/queries/upkeep/workers.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import { createWake } from 'dlq-core/runtime/run-loop.ts'
import { withTimeout } from '../with-timeout.ts'

export type Heartbeat = {
  /** Beats until the signal aborts, or until the others may have taken the pool's jobs. */
  run(id: string, signal: AbortSignal): Promise<'stopped' | 'lost'>
  /** Throws unless the last beat is fresh: others may be releasing this pool's jobs, and would miss one taken now. */
  requireFresh(): void
}

export type HeartbeatDeps = { sql: Database; retrierId: string; leaseMs: number; now: () => number; log: Log }

export function createHeartbeat({ sql, retrierId, leaseMs, now, log }: HeartbeatDeps): Heartbeat {
  let freshAt: number | null = null

  async function beat(id: string): Promise<boolean> {
    // Taken before the beat is sent, because the server may write it any time after that.
    const sentAt = now()
    const isKnown =
      freshAt === null ? registerWorker(sql, { id, retrier: retrierId }).then(() => true) : beatWorker(sql, id)
    if (!(await withTimeout(isKnown, leaseMs))) return false
    freshAt = sentAt
    return true
  }

  return {
    async run(id, signal) {
      const startedAt = now()
      while (!signal.aborted) {
        try {
          if (!(await beat(id))) return 'lost'
        } catch (error) {
          log.debug({ error, worker: id }, 'worker_beat_failed')
          if (now() - (freshAt ?? startedAt) > leaseMs) return 'lost'
        }
        await createWake().wait(leaseMs / 4, signal)
      }
      return 'stopped'
    },
    requireFresh() {
      if (freshAt === null || now() - freshAt > leaseMs / 2) throw new Error('the heartbeat is late: no job is taken')
    },
  }
}
