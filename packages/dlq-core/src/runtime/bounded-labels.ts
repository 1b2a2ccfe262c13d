// Bounded labels: topics come from outside, and a metric must not grow with them for ever. Values beyond the
// bound are counted together under one label.

/** The label of all values beyond the bound; no topic can have this name. */
export const others = '(others)'
export const maxLabels = 500

/** For counters, whose labels must not change their meaning: the first `max` values keep their names. */
export function createLabelBound(max = maxLabels): (value: string) => string {
  const named = new Set<string>()
  return (value) => {
    if (named.has(value)) return value
    if (named.size >= max) return others
    named.add(value)
    return value
  }
}

/** For gauges, which are set at each reading: the items with the greatest weights first, and whether each keeps its name. */
export function weightiest<T>(items: readonly T[], weightOf: (item: T) => number, max = maxLabels): [T, boolean][] {
  return items.toSorted((a, b) => weightOf(b) - weightOf(a)).map((item, index) => [item, index < max])
}
