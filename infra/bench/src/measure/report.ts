// A benchmark's variants over all rounds as one table. Pure.

import type { Measurement } from './measure.ts'
import { median, medianRatio } from './statistics.ts'
import { formatNumber, formatTable } from './table.ts'

/** One line of the table: the measurements of a variant, round by round. */
export type Variant = { name: string; rounds: readonly Measurement[] }

const columns = ['', 'rows/s', 'of floor', 'CPU of floor', 'client µs/row', 'PostgreSQL µs/row', 'peak MiB']

/** Medians, and the ratios to the floor of the same round. */
export function formatVariants(variants: readonly Variant[], floor: Variant): string {
  return formatTable(
    columns,
    variants.map(({ name, rounds }) => [
      name,
      formatNumber(median(rounds.map(rate))),
      formatNumber(medianRatio(rounds.map(rate), floor.rounds.map(rate)), 2),
      formatNumber(medianRatio(rounds.map(cpu), floor.rounds.map(cpu)), 2),
      formatNumber(medianOf(rounds, ({ clientMicros }) => clientMicros)),
      formatNumber(medianOf(rounds, ({ postgresMicros }) => postgresMicros)),
      formatNumber(medianOf(rounds, ({ peakMemoryMiB }) => peakMemoryMiB)),
    ]),
  )
}

/** One figure of two versions, round by round. */
export type Figure = { name: string; better: 'higher' | 'lower'; theirs: number[]; ours: number[] }

/** Medians of both versions, and the median of the ratios of the rounds. */
export function formatComparison(figures: readonly Figure[]): string {
  return formatTable(
    ['', 'theirs', 'ours', 'ours of theirs', 'better'],
    figures.map(({ name, better, theirs, ours }) => [
      name,
      formatNumber(median(theirs)),
      formatNumber(median(ours)),
      formatNumber(medianRatio(ours, theirs), 3),
      better,
    ]),
  )
}

/** The variant with the lowest median rate. */
export function slowest(variants: readonly [Variant, ...Variant[]]): Variant {
  const medianRate = ({ rounds }: Variant) => median(rounds.map(rate))
  return variants.reduce((slow, other) => (medianRate(other) < medianRate(slow) ? other : slow))
}

function rate({ rowsPerSecond }: Measurement): number {
  return rowsPerSecond
}

/** Client and PostgreSQL together, because both share the machine's cores. NaN where one is not known. */
function cpu({ clientMicros, postgresMicros }: Measurement): number {
  return clientMicros === null || postgresMicros === null ? Number.NaN : clientMicros + postgresMicros
}

function medianOf(rounds: readonly Measurement[], read: (round: Measurement) => number | null): number | null {
  const known = rounds.map(read).filter((value) => value !== null)
  return known.length === 0 ? null : median(known)
}
