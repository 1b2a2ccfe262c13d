// Reads which metrics and labels a PromQL expression names, by Prometheus' own grammar.

import { parser } from '@prometheus-io/lezer-promql'

export type Named = { metrics: string[]; labels: string[] }

/** Grafana's variables are not PromQL: possible values replace them. */
function withoutVariables(expression: string): string {
  return expression.replaceAll(/\$__(rate_interval|interval|range)/g, '5m').replaceAll(/\$\{?\w+(:\w+)?\}?/g, 'value')
}

/** The metrics and labels of an expression. @throws if it is not PromQL */
export function namesIn(expression: string): Named {
  const text = withoutVariables(expression)
  const named: Named = { metrics: [], labels: [] }
  const cursor = parser.parse(text).cursor()
  do {
    const { name, from, to } = cursor
    if (cursor.type.isError) throw new Error(`not PromQL at ${from}: ${expression}`)
    if (name === 'Identifier' && cursor.node.parent?.name === 'VectorSelector') named.metrics.push(text.slice(from, to))
    if (name === 'LabelName') named.labels.push(text.slice(from, to))
  } while (cursor.next())
  return named
}
