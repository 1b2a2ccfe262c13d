// Compares the document, the code and the metrics that the code registers.
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { withTables } from './metrics-tables.ts'
import { metricsOf, sections } from './service-metrics.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const all = sections.flatMap(metricsOf)

test('infra/docs/metrics.md has every metric with its type, labels and meaning', () => {
  const document = readFileSync(`${root}infra/docs/metrics.md`, 'utf8')
  expect(document, 'write it again: node infra/monitoring/src/write-metrics-docs.ts').toBe(withTables(document))
})

test('every metric that any source file defines is registered here, and so documented', () => {
  const files = globSync('{packages/dlq-core,services/*}/src/**/*.ts', { cwd: root }).filter(
    (file) => !file.endsWith('.test.ts'),
  )
  const defined = files.flatMap((file) => {
    const source = readFileSync(root + file, 'utf8')
    return [...source.matchAll(/\b(?:new (?:Counter|Gauge|Histogram|Summary)\(\{\s*name: |gauge\(\s*)'(\w+)'/g)].map(
      (match) => match[1],
    )
  })
  expect(defined.toSorted()).toEqual(all.map(({ name }) => name).toSorted())
})

test('a selector in a document has labels of its metric', () => {
  const pages = globSync('infra/docs/**/*.md', { cwd: root })
  const selectors = pages.flatMap((page) =>
    [...readFileSync(root + page, 'utf8').matchAll(/\b(\w+)\{(\w+[=!~]+"[^}]*)\}/g)].map(
      ([selector, name, matchers]) => {
        const labels = all.find((metric) => metric.name === name)?.labels ?? []
        const unknown = [...matchers!.matchAll(/(\w+)[=!~]+"/g)].filter(([, label]) => !labels.includes(label!))
        return { selector: `${page}: ${selector}`, isKnown: unknown.length === 0 }
      },
    ),
  )
  expect(selectors.length).toBeGreaterThan(5)
  expect(selectors.filter(({ isKnown }) => !isKnown).map(({ selector }) => selector)).toEqual([])
})

test('names follow Prometheus’ conventions: counters end in _total, times are in seconds, help is a sentence', () => {
  // The specification defines these two names.
  const given = ['dead_letter_total', 'dead_job_count']
  for (const { name, type, help } of all) {
    expect(name).toMatch(/^(dlq|dead_letter|dead_job)_[a-z_]+$/)
    if (!given.includes(name)) expect([name, name.endsWith('_total')]).toEqual([name, type === 'counter'])
    expect(name).not.toMatch(/_(ms|millis|milliseconds|minutes|kb|mb)(_|$)/)
    expect(help).toMatch(/^.{15,250}[.0)]$/)
  }
})

test('the specification’s metrics have its names and labels', () => {
  const labelsOf = (wanted: string) => all.find(({ name }) => name === wanted)?.labels
  expect(labelsOf('dead_job_count')).toEqual(['channel', 'consumer'])
  expect(labelsOf('dead_letter_total')).toEqual(['topic', 'status'])
  expect(labelsOf('dead_letter_age_seconds')).toEqual(['topic', 'status'])
})
