// The JSON Schema of config.yaml, for editors. It stands in infra/config-schema/config.schema.json; a test holds
// that it is what the settings are checked against.

import { toJsonSchema } from '@valibot/to-json-schema'
import { configSchema, secretSettings } from './config-schema.ts'

type JsonSchema = { properties?: Record<string, JsonSchema>; [keyword: string]: unknown }

const description =
  'Settings of the services of dlq-manager; what each means: infra/docs/configuration.md. What JSON Schema has no words for, the services check at their start (--check-config).'

/** With the `NAME_file` that a secret may have beside it. */
export function configJsonSchema(): object {
  // What has no word in JSON Schema is left out; the services check it all the same.
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
