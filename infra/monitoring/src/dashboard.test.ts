// The dashboard's queries, held to the metrics that the code registers.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { faultsIn, knownSeries } from './known-names.ts'
import { metricsOf } from './service-metrics.ts'

type Panel = {
  id: number
  title: string
  type: string
  gridPos: Record<'x' | 'y' | 'w' | 'h', number>
  targets?: { expr: string }[]
}
type Dashboard = { panels: Panel[]; templating: { list: { name: string; query: string | { query: string } }[] } }

const { panels, templating }: Dashboard = JSON.parse(
  readFileSync(new URL('../../grafana/dlq-manager.json', import.meta.url), 'utf8'),
)
const known = knownSeries()
const queries = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }): [string, string] => [title, expr]))

test.each(queries)('"%s" asks only for what the services export: %s', (_, expr) => {
  expect(faultsIn(expr, known)).toEqual([])
})

test('its variables use existing metrics and labels, and no query uses another variable', () => {
  const variables = templating.list.map(({ name }) => name)
  for (const { query } of templating.list) {
    const asked = typeof query === 'string' ? null : /^label_values\((\w+), (\w+)\)$/.exec(query.query)
    if (asked) expect([...known.get(asked[1]!)!, 'job']).toContain(asked[2])
  }
  const used = queries.flatMap(([, expr]) => [...expr.matchAll(/\$(\w+)/g)].map((match) => match[1]!))
  expect(used.filter((name) => !name.startsWith('__') && !variables.includes(name))).toEqual([])
})

test('panels have different ids, and none covers another', () => {
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, n) => `${x + (n % w)}:${y + Math.floor(n / w)}`),
  )
  expect(new Set(cells).size).toBe(cells.length)
})

test('the fleet’s gauges, which every API shows, are never added up over replicas', () => {
  const gauges = metricsOf('api: the fleet').map(({ name }) => name)
  const bare = queries.filter(([, expr]) =>
    gauges.some((name) => new RegExp(`\\bsum(?: by \\([^)]*\\))? \\(?\\(?${name}\\b`).test(expr)),
  )
  expect(bare).toEqual([])
})
