// Counts verdicts for the metric dlq_verdicts_total. A look says how far each group has come; the attempts in between
// are counted in pieces, for a bounded time after each look, so that a look is never late because much was read.

import { type CountedRise, countCameBack, countRises, type Rise } from 'dlq-core/queries/readers/count-verdicts.ts'
import { type KnownReader, keyOf, type SeenReader } from 'dlq-core/queries/readers/reader-watch.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import { Counter, type Registry } from 'prom-client'
import { countFromZero } from '../count-from-zero.ts'

export type VerdictMetrics = ReturnType<typeof createVerdictMetrics>

export function createVerdictMetrics(registry: Registry) {
  return {
    verdicts: countFromZero(
      new Counter({
        name: 'dlq_verdicts_total',
        help: 'Published attempts by what became of them: passed (read, may still come back), consumed (nothing came back), came_back, skipped, expired. One attempt is counted under each verdict that it gets.',
        labelNames: ['verdict'],
        registers: [registry],
      }),
      'verdict',
      ['passed', 'consumed', 'came_back', 'skipped', 'expired'],
    ),
  }
}

export type VerdictCounterDeps = { sql: Database; log: Log; metrics: VerdictMetrics; now: () => number }

const piece = { rises: 50, limit: 2000 }
const countForMs = 1000
/** What is behind them is not counted. */
const maxRises = 20_000

export function createVerdictCounter({ sql, log, metrics, now }: VerdictCounterDeps) {
  let waiting: Rise[] = []
  return {
    /** Notes what a look has found beside what the looks before had. */
    add(seen: readonly SeenReader[], known: ReadonlyMap<string, KnownReader>): void {
      const rises = seen.flatMap((reader) => risesOf(reader, known.get(keyOf(reader)) ?? null))
      const room = Math.max(0, maxRises - waiting.length)
      if (rises.length > room) log.info({ left_out: rises.length - room }, 'verdicts_not_counted')
      waiting.push(...rises.slice(0, room))
    },
    /** `until`: when the look began; `after`: the look before, which another retrier may have made. As text. */
    async count({ after, until }: { after: string | null; until: string }): Promise<void> {
      const beganMs = now()
      if (after !== null) metrics.verdicts.inc({ verdict: 'came_back' }, await countCameBack(sql, { after, until }))
      while (waiting.length > 0 && now() - beganMs < countForMs) {
        const some = waiting.slice(0, piece.rises)
        const counted = await countRises(sql, { rises: some, limit: piece.limit })
        for (const { verdict, count } of counted) metrics.verdicts.inc({ verdict }, count)
        waiting = [...restOf(some, counted), ...waiting.slice(some.length)]
      }
    },
  }
}

function restOf(rises: readonly Rise[], counted: readonly CountedRise[]): Rise[] {
  return counted.flatMap(({ next }, number) => (next === null ? [] : [{ ...rises[number]!, from: next }]))
}

/** What a look changes for attempts of the group, partition by partition. */
export function risesOf(reader: SeenReader, before: KnownReader | null): Rise[] {
  const { target_topic, consumer_group } = reader
  const rowOf = new Map(before?.partitions.map((row) => [row.partition, row]))
  return reader.partitions.flatMap((seen) => {
    const row = rowOf.get(seen.partition)
    // A log that became shorter is a topic that was made anew.
    const known = row !== undefined && seen.log_end_offset >= row.log_end_offset ? row : undefined
    const of = { target_topic, consumer_group, partition: seen.partition, isFirst: before === null }
    const passedFrom = known?.passed_offset ?? 0n
    const lostFrom = max(seen.passed_offset, known?.log_start_offset ?? seen.log_start_offset)
    const rises: Rise[] = [
      { ...of, verdict: 'passed', from: passedFrom, to: seen.gap?.from_offset ?? seen.passed_offset },
      { ...of, verdict: 'passed', from: seen.gap?.to_offset ?? seen.passed_offset, to: seen.passed_offset },
      { ...of, verdict: 'skipped', from: seen.gap?.from_offset ?? 0n, to: seen.gap?.to_offset ?? 0n },
      { ...of, verdict: 'consumed', from: known?.settled_offset ?? 0n, to: seen.settled_offset },
      { ...of, verdict: 'expired', from: lostFrom, to: seen.log_start_offset },
    ]
    return rises.filter(({ from, to }) => to > from)
  })
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}
