// The alert rules use exported metrics, each has its page, and each fires and stays silent in its cases.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { messageFilterEntries } from 'dlq-core/domain/message/message-filter.ts'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { findPromtool } from './find-promtool.ts'
import { faultsIn, knownSeries } from './known-names.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const folder = `${root}infra/prometheus`

type Rule = { alert: string; expr: string; labels: { severity: string }; annotations: Record<string, string> }
type RuleTest = { name: string; alert_rule_test: { alertname: string; exp_alerts: object[] }[] }

const { groups } = parse(readFileSync(`${folder}/dlq-manager.rules.yaml`, 'utf8')) as { groups: { rules: Rule[] }[] }
const rules = groups.flatMap(({ rules }) => rules)
const { tests } = parse(readFileSync(`${folder}/dlq-manager.tests.yaml`, 'utf8')) as { tests: RuleTest[] }
const known = knownSeries()

test.each(rules.map(({ alert, expr }) => [alert, expr]))('%s uses only metrics that the services export', (_, expr) => {
  expect(faultsIn(expr, known)).toEqual([])
})

test('a rule that names a metric that no service exports, or a label that its metric lacks, would be found', () => {
  expect(faultsIn('dlq_jobs{task="x"} > no_such_metric', known)).toEqual([
    'no service exports no_such_metric',
    'dlq_jobs, no_such_metric has no label task',
  ])
  expect(() => faultsIn('sum(dlq_jobs', known)).toThrow('not PromQL')
})

test.each(rules)('$alert has a page with checks and remedies', ({ alert, expr, annotations }) => {
  expect(annotations.runbook).toBe(`infra/docs/runbook/${alert}.md`)
  const page = readFileSync(root + annotations.runbook, 'utf8')
  expect(page).toMatch(new RegExp(`^# ${alert}\n`))
  expect(page).toContain(`\`\`\`promql\n${expr.trim()}\n\`\`\``)
  expect(page).toMatch(/\n## Look at\n\n- [\s\S]+\n## Do\n\n- /)
  expect(existsSync(`${root}infra/docs/runbook/README.md`)).toBe(true)
  expect(readFileSync(`${root}infra/docs/runbook/README.md`, 'utf8')).toContain(`[${alert}](${alert}.md)`)
})

const pages = [...readFileSync(`${root}packages/console/src/router.tsx`, 'utf8').matchAll(/ path: '(\/.*)',$/gm)].map(
  ([, path]) => new RegExp(`^/console${path!.replaceAll(/\$\w+/g, '[^/]+')}$`),
)
const searchedBy = ['sort', ...Object.keys(messageFilterEntries)]

test.each(rules)('$alert leads to a page of the console', ({ annotations }) => {
  const [path, search = ''] = annotations.console!.replaceAll(/\{\{ \$labels\.\w+( \| urlquery)? \}\}/g, 'x').split('?')
  expect(pages.length).toBeGreaterThan(15)
  expect(pages.filter((page) => page.test(path!))).toHaveLength(1)
  expect(searchedBy).toEqual(expect.arrayContaining([...new URLSearchParams(search).keys()]))
})

test('each rule has a case in which it fires, and one in which it is silent', () => {
  const cases = tests.flatMap(({ alert_rule_test }) => alert_rule_test)
  const firing = cases.filter(({ exp_alerts }) => exp_alerts.length > 0).map(({ alertname }) => alertname)
  const silent = cases.filter(({ exp_alerts }) => exp_alerts.length === 0).map(({ alertname }) => alertname)
  const alerts = rules.map(({ alert }) => alert)
  expect(new Set(firing)).toEqual(new Set(alerts))
  expect(new Set(silent)).toEqual(new Set(alerts))
})

test('Prometheus confirms that each rule fires and stays silent as its cases say', { timeout: 300_000 }, ({ skip }) => {
  const promtool = findPromtool()
  if (promtool.path === null) {
    console.log(`skipped: ${promtool.why}`)
    return skip(promtool.why)
  }
  for (const args of [
    ['check', 'rules', 'dlq-manager.rules.yaml'],
    ['test', 'rules', 'dlq-manager.tests.yaml'],
  ]) {
    const { status, stdout, stderr } = spawnSync(promtool.path, args, { cwd: folder, encoding: 'utf8' })
    expect([status, `${stdout}${stderr}`]).toEqual([0, expect.stringContaining('SUCCESS')])
  }
})
