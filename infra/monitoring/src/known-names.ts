// The names that expressions may use: the series of every metric with their labels, and the labels that Prometheus
// adds to each.

import { namesIn } from './expressions.ts'
import { type Metric, metricsOf, processMetrics, sections } from './service-metrics.ts'

const fromPrometheus = ['instance', 'job', 'le']

function seriesOf({ name, type }: Metric): string[] {
  return type === 'histogram' || type === 'summary' ? [name, `${name}_bucket`, `${name}_sum`, `${name}_count`] : [name]
}

/** Metric (as its series are called) → its labels. */
export function knownSeries(): Map<string, readonly string[]> {
  const metrics = [...sections.flatMap(metricsOf), ...processMetrics()]
  return new Map([
    ['up', []],
    ...metrics.flatMap((metric) =>
      seriesOf(metric).map((series): [string, readonly string[]] => [series, metric.labels]),
    ),
  ])
}

/** The faults of an expression: metrics that no service exports, labels that none of its metrics has. */
export function faultsIn(expression: string, known: ReadonlyMap<string, readonly string[]>): string[] {
  const { metrics, labels } = namesIn(expression)
  const allowed = [...fromPrometheus, ...metrics.flatMap((metric) => known.get(metric) ?? [])]
  return [
    ...metrics.filter((metric) => !known.has(metric)).map((metric) => `no service exports ${metric}`),
    ...labels.filter((label) => !allowed.includes(label)).map((label) => `${metrics.join(', ')} has no label ${label}`),
  ]
}
