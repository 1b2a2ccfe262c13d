import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { loadConfig } from 'dlq-core/runtime/config/config.ts'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { chart, staleFiles } from './generated.ts'
import { root } from './tools.ts'

test('the files that the chart copies from the project are up to date (else: npm run chart -- --write)', () => {
  expect(staleFiles().map((file) => relative(root, file))).toEqual([])
})

test('the defaults of config.yaml are ones that the services accept', () => {
  const { config } = parse(readFileSync(join(chart, 'values.yaml'), 'utf8'))
  const { warnings } = loadConfig({ yaml: JSON.stringify(config), env: {}, needs: ['database', 'kafka'] })
  expect(warnings).toEqual([])
})

test('every value that may be set has a default, and every default may be set', () => {
  const schema = JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8'))
  const values = parse(readFileSync(join(chart, 'values.yaml'), 'utf8'))
  const { global, ...known } = schema.properties
  expect(Object.keys(values).sort()).toEqual(Object.keys(known).sort())
})

test('at least twelve sets of values are tried, the one of the specification among them', () => {
  const names = readdirSync(join(root, 'infra/helm/values'))
  expect(names).toContain('specification.yaml')
  expect(names.length).toBeGreaterThanOrEqual(12)
})
