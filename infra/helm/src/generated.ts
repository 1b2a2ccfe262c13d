// The chart's copies of other files, because a chart is packed from its own folder alone: the keys of config.yaml,
// the alert rules, the dashboards, the version. `npm run chart -- --write` updates them; a test holds that they are
// up to date.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  configSchema,
  type SectionSchema,
  secretSettings,
  sectionSchema,
} from 'dlq-core/runtime/config/config-schema.ts'
import { root } from './tools.ts'

export const chart = join(root, 'infra', 'helm', 'dlq-manager')

/** Each generated file of the chart, with the content that it should have. */
function generatedFiles(): Map<string, string> {
  const files = new Map<string, string>()
  const schemaFile = join(chart, 'values.schema.json')
  const schema = JSON.parse(readFileSync(schemaFile, 'utf8'))
  schema.properties.config = sectionJson(configSchema, [])
  files.set(schemaFile, `${JSON.stringify(schema, null, 2)}\n`)

  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const chartFile = join(chart, 'Chart.yaml')
  const chartText = readFileSync(chartFile, 'utf8')
  files.set(chartFile, chartText.replaceAll(/^(version|appVersion): .*$/gm, `$1: ${version}`))

  copyFolder({ from: 'infra/prometheus', ending: '.rules.yaml', to: 'rules' })
  copyFolder({ from: 'infra/grafana', ending: '.json', to: 'dashboards' })
  return files

  function copyFolder({ from, ending, to }: { from: string; ending: string; to: string }) {
    const folder = join(root, from)
    if (!existsSync(folder)) return
    for (const name of readdirSync(folder).filter((name) => name.endsWith(ending)))
      files.set(join(chart, 'files', to, name), readFileSync(join(folder, name), 'utf8'))
  }
}

/** The generated files that are missing, differ, or should not be there. */
export function staleFiles(): string[] {
  const files = generatedFiles()
  const copied = ['rules', 'dashboards'].flatMap((name) => {
    const folder = join(chart, 'files', name)
    return existsSync(folder) ? readdirSync(folder).map((file) => join(folder, file)) : []
  })
  const wrong = [...files].filter(
    ([file, text]) => !existsSync(file) || !isSame(file, readFileSync(file, 'utf8'), text),
  )
  return [...wrong.map(([file]) => file), ...copied.filter((file) => !files.has(file))]
}

/** The formatter owns the layout of JSON. */
function isSame(file: string, one: string, other: string): boolean {
  return file.endsWith('.json') ? JSON.stringify(JSON.parse(one)) === JSON.stringify(JSON.parse(other)) : one === other
}

/** Files that are up to date keep their layout. */
export function writeGeneratedFiles(): void {
  const files = generatedFiles()
  for (const file of staleFiles()) {
    const text = files.get(file)
    if (text === undefined) {
      rmSync(file)
      continue
    }
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
}

/** The keys that a section may have. The services check the values, with better errors. */
function sectionJson({ entries }: SectionSchema, path: readonly string[]): object {
  const keys = Object.entries(entries).map(([key, schema]): [string, object] => {
    const section = sectionSchema(schema)
    return [key, section === null ? {} : sectionJson(section, [...path, key])]
  })
  const files = secretSettings
    .filter((setting) => setting.slice(0, -1).join('.') === path.join('.'))
    .map((setting): [string, object] => [`${setting.at(-1)}_file`, {}])
  return { type: ['object', 'null'], additionalProperties: false, properties: Object.fromEntries([...keys, ...files]) }
}
