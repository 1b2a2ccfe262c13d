// Sees where the database stands before what this consumer has stored: it was restored, a standby that was behind has
// taken over, or somebody has set the position. A partition that gets records finds that out by its next batch; this is
// for those that get none.

import { type PartitionPlace, partitionKey } from 'dlq-core/domain/record/record-place.ts'
import { listPositions } from 'dlq-core/queries/ingest/positions.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import { runLoop } from 'dlq-core/runtime/run-loop.ts'
import type { Consumer } from 'kafkajs'

type WatchDeps = {
  sql: Sql
  log: Log
  cluster: string
  consumer: Pick<Consumer, 'seek'>
  /** The database has forgotten something; other things that it was told may be gone, too. */
  onBehind: () => void
}

export type PositionWatch = {
  /** All records before the offset are stored. */
  stored(place: PartitionPlace, nextOffset: bigint): void
  /** Other partitions are ours now: what was stored before says nothing. */
  forget(): void
  /** One pass. */
  look(): Promise<{ more: false }>
}

const lookEveryMs = 5000

export function createPositionWatch({ sql, log, cluster, consumer, onBehind }: WatchDeps): PositionWatch {
  const storedTo = new Map<string, PartitionPlace & { nextOffset: bigint }>()
  return {
    stored({ topic, partition }, nextOffset) {
      storedTo.set(partitionKey({ topic, partition }), { topic, partition, nextOffset })
    },
    forget: () => storedTo.clear(),
    async look() {
      // What is stored while the database is asked is not compared with its answer.
      const before = [...storedTo.values()]
      if (before.length === 0) return { more: false }
      const topics = [...new Set(before.map(({ topic }) => topic))]
      const rows = await listPositions(sql, { cluster, topics })
      const positions = new Map(rows.map((row) => [partitionKey(row), row.next_offset]))
      const behind = before.filter((place) => (positions.get(partitionKey(place)) ?? 0n) < place.nextOffset)
      if (behind.length === 0) return { more: false }
      onBehind()
      for (const { topic, partition, nextOffset } of behind) {
        const position = positions.get(partitionKey({ topic, partition })) ?? 0n
        log.warn({ topic, partition, position, storedTo: nextOffset }, 'position_behind')
        storedTo.delete(partitionKey({ topic, partition }))
        consumer.seek({ topic, partition, offset: String(position) })
      }
      return { more: false }
    },
  }
}

/** Looks until the signal aborts. */
export function followPositions(watch: PositionWatch, { log, signal }: { log: Log; signal: AbortSignal }) {
  return runLoop(watch.look, { name: 'positions', intervalMs: lookEveryMs, signal, log })
}
