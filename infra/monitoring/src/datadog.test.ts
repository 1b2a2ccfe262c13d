// The configuration of Datadog's check: every pattern matches a metric, and every metric of ours is matched.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { metricsOf, processMetrics, sections } from './service-metrics.ts'

type Check = { instances: { openmetrics_endpoint: string; namespace: string; metrics: string[] }[] }
const { instances }: Check = parse(readFileSync(new URL('../../datadog/openmetrics.yaml', import.meta.url), 'utf8'))
/** The agent knows a counter without the suffix. */
const shortOf = ({ name, type }: { name: string; type: string }) =>
  type === 'counter' ? name.replace(/_total$/, '') : name
const ours = sections.flatMap(metricsOf).map(shortOf)
const all = [...ours, ...processMetrics().map(shortOf)]

test.each(instances)('$openmetrics_endpoint collects all our metrics, and no pattern matches none', ({ metrics }) => {
  const takes = (pattern: string, name: string) =>
    new RegExp(pattern.startsWith('^') ? pattern : `^${pattern}$`).test(name)
  expect(metrics.filter((pattern) => !all.some((name) => takes(pattern, name)))).toEqual([])
  expect(ours.filter((name) => !metrics.some((pattern) => takes(pattern, name)))).toEqual([])
})
