import { expect, test } from 'vitest'
import { configJsonSchema } from './config-json-schema.ts'
import { configSchema, secretSettings, settingPaths } from './config-schema.ts'

type Schema = { properties?: Record<string, Schema>; additionalProperties?: unknown; anyOf?: unknown; type?: string }

const at = (path: readonly string[]) =>
  path.reduce<Schema | undefined>((schema, key) => schema?.properties?.[key], configJsonSchema() as Schema)

test('the file for editors is the schema that the services check against', async () => {
  // After a change of the settings: npx vitest run config-json-schema -u
  const file = '../../../../../infra/config-schema/config.schema.json'
  await expect(`${JSON.stringify(configJsonSchema(), null, 2)}\n`).toMatchFileSnapshot(file)
})

test('it has every setting and every file of a secret, and no other key is allowed', () => {
  for (const path of settingPaths(configSchema)) expect(at(path), path.join('.')).toBeDefined()
  for (const path of secretSettings) expect(at([...path.slice(0, -1), `${path.at(-1)}_file`])).toBeDefined()
  for (const section of [[], ['database'], ['kafka', 'sasl']]) expect(at(section)?.additionalProperties).toBe(false)
})

test('durations may be numbers and texts, as in the file itself', () => {
  expect(at(['retry', 'lease'])?.anyOf).toHaveLength(2)
  expect(at(['server', 'port'])).toMatchObject({ type: 'integer' })
})
