// Sentences of services, `dlq` and the console that name a setting name one that there is: people go and look for it.
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { configSchema, sectionSchema, settingPaths } from 'dlq-core/runtime/config/config-schema.ts'
import { expect, test } from 'vitest'

const root = path.join(import.meta.dirname, '../../..')
/** A setting or a section, such as kafka.sasl. */
const names = new Set(
  settingPaths(configSchema).flatMap((keys) => keys.map((_, at) => keys.slice(0, at + 1).join('.'))),
)
const sections = Object.entries(configSchema.entries).flatMap(([key, schema]) => (sectionSchema(schema) ? [key] : []))
const named = new RegExp(String.raw`(?<![\w./$-])(?:${sections.join('|')})\.[a-z][a-z_]*(?:\.[a-z_]+)*(?![\w(])`, 'g')
const literals = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\\n]|\\.)*`/g

/** What has a space in it; `cron.run` alone is a name of something else. */
function sentencesOf(source: string): string[] {
  const texts = source.replaceAll(/\$\{[^}]*\}/g, '…').match(literals) ?? []
  return [...texts.filter((text) => text.includes(' ')), ...(source.match(/<code>.*?<\/code>/g) ?? [])]
}

test('settings that sentences name exist', () => {
  const files = globSync('{packages,services}/*/src/**/*.{ts,tsx}', {
    cwd: root,
    exclude: (name) => name === 'node_modules' || name.endsWith('.test.ts'),
  })
  const texts = files.flatMap((file) =>
    sentencesOf(readFileSync(path.join(root, file), 'utf8')).flatMap((text) =>
      (text.match(named) ?? []).map((name) => ({ file, name, text })),
    ),
  )
  expect(texts.length).toBeGreaterThan(10)
  expect(texts.filter(({ name }) => !names.has(name))).toEqual([])
})
