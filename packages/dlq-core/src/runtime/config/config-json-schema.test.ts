import { type Schema as JsonSchema, Validator } from '@cfworker/json-schema'
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

test('an editor takes each default, and as much as the service does', () => {
  const isTaken = (path: readonly string[], value: unknown) =>
    new Validator(at(path) as JsonSchema, '7').validate(value).valid
  const defaults = settingPaths(configSchema).flatMap((path) => {
    const { default: value } = (at(path) ?? {}) as { default?: unknown }
    return value === undefined ? [] : [{ path, value }]
  })
  expect(defaults.length).toBeGreaterThan(80)
  expect(defaults.filter(({ path, value }) => !isTaken(path, value))).toEqual([])
  for (const key of ['retention', 'audit_retention']) {
    expect(isTaken(['archive', key], '36500d')).toBe(true)
    expect(isTaken(['archive', key], '40000d')).toBe(false)
  }
})
