// Measures one variant: its rate, and the CPU and memory of each process. CPU and rows are counted over the same
// span, without the start.

import { setTimeout as sleep } from 'node:timers/promises'
import type { ServiceProcess } from 'dlq-testing/fleet/service-process.ts'
import { cpuSecondsOf, peakMemoryMiB, readStats } from './process-usage.ts'
import { ratePerSecond } from './statistics.ts'

/** Costs are null where the system does not tell. */
export type Measurement = {
  rowsPerSecond: number
  /** CPU of the service, or of the floor's client, in µs per row. */
  clientMicros: number | null
  postgresMicros: number | null
  peakMemoryMiB: number | null
  /** What a row costs in WAL, and in tables, indexes and TOAST. Absent where nobody looked. */
  walBytes?: number
  storedBytes?: number
}

/** How long a service may make no progress. */
const stalledMs = 120_000

/**
 * Watches services that share the work until `count` returns `total`. CPU is their sum, memory the maximum of one.
 *
 * @param from the rows before this number count as start-up, and are not measured
 */
export async function measureService(
  service: ServiceProcess | readonly ServiceProcess[],
  {
    total,
    from = 1,
    count,
    pollMs,
    postgresPid,
  }: {
    total: number
    from?: number
    count: () => Promise<number>
    pollMs: number
    postgresPid: number | undefined
  },
): Promise<Measurement> {
  const services = [service].flat()
  const look = async () => {
    const seen = await count()
    const atMs = performance.now()
    const stats = readStats()
    return {
      atMs,
      count: seen,
      client: sumOf(services.map(({ pid }) => cpuSecondsOf(pid, stats))),
      postgres: cpuSecondsOf(postgresPid, stats),
    }
  }
  let first = await look()
  let last = first
  for (let changedAt = performance.now(); last.count < total; ) {
    const ended = services.find((service) => service.hasExited())
    if (ended) throw new Error(`${ended.name} ended:\n${ended.lastOutput()}`)
    if (performance.now() - changedAt > stalledMs)
      throw new Error(`${services[0]!.name} stands still at ${last.count} of ${total}`)
    await sleep(pollMs)
    const next = await look()
    if (next.count > last.count) changedAt = next.atMs
    if (first.count < from) first = next
    last = next
  }
  const rows = last.count - first.count
  return {
    rowsPerSecond: ratePerSecond(first, last),
    clientMicros: microsPerRow(first.client, last.client, rows),
    postgresMicros: microsPerRow(first.postgres, last.postgres, rows),
    peakMemoryMiB: mostOf(services.map(({ pid }) => peakMemoryMiB(pid))),
  }
}

function sumOf(figures: readonly (number | null)[]): number | null {
  return figures.reduce((sum, figure) => (sum === null || figure === null ? null : sum + figure), 0)
}

function mostOf(figures: readonly (number | null)[]): number | null {
  const known = figures.filter((figure) => figure !== null)
  return known.length === 0 ? null : Math.max(...known)
}

/** Runs a floor in this process: `work` handles `total` rows. */
export async function measureFloor(
  work: () => Promise<void>,
  { total, postgresPid }: { total: number; postgresPid: number | undefined },
): Promise<Measurement> {
  const postgresBefore = cpuSecondsOf(postgresPid)
  const cpuBefore = process.cpuUsage()
  const first = { atMs: performance.now(), count: 0 }
  await work()
  const last = { atMs: performance.now(), count: total }
  const { user, system } = process.cpuUsage(cpuBefore)
  return {
    rowsPerSecond: ratePerSecond(first, last),
    clientMicros: (user + system) / total,
    postgresMicros: microsPerRow(postgresBefore, cpuSecondsOf(postgresPid), total),
    peakMemoryMiB: null,
  }
}

function microsPerRow(before: number | null, after: number | null, rows: number): number | null {
  return before === null || after === null ? null : ((after - before) * 1e6) / rows
}
