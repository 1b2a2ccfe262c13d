// Counters whose labels are known begin at 0: to Prometheus' increase(), a counter's first value is no increase.

import type { Counter } from 'prom-client'

/** Shows each of the label's values as 0 until it is counted. Returns the counter. */
export function countFromZero<Label extends string>(
  counter: Counter<Label>,
  label: Label,
  values: readonly string[],
): Counter<Label> {
  for (const value of values) counter.inc({ [label]: value } as Partial<Record<Label, string>>, 0)
  return counter
}
