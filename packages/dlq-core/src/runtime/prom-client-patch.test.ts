// What patches/prom-client@15.1.3.patch changes: how often labels are formatted, and nothing of what is written.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import prometheus from 'prom-client'
import { expect, onTestFinished, test, vi } from 'vitest'

const installed = realpathSync(join(import.meta.dirname, '../../node_modules/prom-client'))
const patch = join(import.meta.dirname, '../../../../patches/prom-client@15.1.3.patch')

/** The class as its project published it. */
function publishedRegistry(): typeof prometheus.Registry {
  const copy = mkdtempSync(join(tmpdir(), 'prom-client-'))
  onTestFinished(() => rmSync(copy, { recursive: true }))
  cpSync(join(installed, 'lib'), join(copy, 'lib'), { recursive: true })
  execFileSync('git', ['apply', '--reverse', '--whitespace=nowarn', patch], { cwd: copy })
  return createRequire(import.meta.url)(join(copy, 'lib/registry.js'))
}

/** Metrics of every kind, with labels that need escaping, in one registry for each class. */
function fill<R extends prometheus.Registry>(...registries: R[]): R[] {
  const labelNames = ['topic'] as const
  const metrics = [
    new prometheus.Counter({ name: 'counter_total', help: 'h', labelNames, registers: [] }),
    new prometheus.Gauge({ name: 'gauge', help: 'of "one"\nor more', labelNames, registers: [] }),
    new prometheus.Histogram({ name: 'histogram', help: 'h', labelNames, buckets: [1, 10], registers: [] }),
    new prometheus.Summary({ name: 'summary', help: 'h', labelNames, registers: [] }),
  ]
  for (const topic of ['a', 'b', 'with "quotes"\n\\']) {
    for (const metric of metrics) {
      if ('observe' in metric) metric.observe({ topic }, 5)
      else metric.inc({ topic })
    }
  }
  const plain = new prometheus.Gauge({ name: 'plain', help: 'h', registers: [] })
  for (const registry of registries) for (const metric of [...metrics, plain]) registry.registerMetric(metric)
  return registries
}

test('a scrape is what the published package writes, with and without default labels', async () => {
  const [ours, published] = fill(new prometheus.Registry(), new (publishedRegistry())())
  expect(await ours!.metrics()).toContain('histogram_bucket{le="10",topic="a"} 1')
  expect(await ours!.metrics()).toBe(await published!.metrics())
  for (const registry of [ours!, published!]) registry.setDefaultLabels({ service: 'api' })
  expect(await ours!.metrics()).toBe(await published!.metrics())
})

test('"no shared labels" is formatted once, however many lines have none', async () => {
  const [registry] = fill(new prometheus.Registry())
  await registry!.metrics()
  const store = vi.spyOn(WeakMap.prototype, 'set')
  onTestFinished(() => store.mockRestore())
  await registry!.metrics()
  const formattedAsEmpty = store.mock.calls.filter(([, text]) => text === '')
  expect(formattedAsEmpty).toEqual([])
})
