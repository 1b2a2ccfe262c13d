// The JSON Schema of config.yaml, for editors. A test holds that infra/config-schema/config.schema.json is
// the schema that checks the settings.

import { toJsonSchema } from '@valibot/to-json-schema'
import { configSchema, secretSettings } from './config-schema.ts'

type JsonSchema = { properties?: Record<string, JsonSchema>; [keyword: string]: unknown }

const description =
  'Settings of the services of dlq-manager; infra/docs/configuration.md explains each. The services check the rest when they start (--check-config).'

/** Adds the `NAME_file` that a secret may have beside it. */
export function configJsonSchema(): object {
  // Checks that JSON Schema cannot express are left out; the services make them.
  const { $schema, ...schema } = toJsonSchema(configSchema, {
    target: 'draft-07',
    typeMode: 'input',
    errorMode: 'ignore',
  }) as JsonSchema
  for (const path of secretSettings) {
    const section = path.slice(0, -1).reduce((inner, key) => inner.properties![key]!, schema as JsonSchema)
    section.properties![`${path.at(-1)}_file`] = {
      type: 'string',
      minLength: 1,
      description: `A file that holds ${path.join('.')}; read again when it changes.`,
    }
  }
  return { $schema, title: 'dlq-manager config.yaml', description, ...schema }
}
