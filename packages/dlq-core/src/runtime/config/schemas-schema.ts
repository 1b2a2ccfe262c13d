// The section "schemas": how bytes that are not JSON are read, and which registries have their schemas.

import * as v from 'valibot'
import { compressions } from '../../domain/payload/decompress.ts'
import { formats, registryTypes } from '../../domain/payload/payload-settings.ts'
import { duration, integer, text, textList } from './config-values.ts'

function oneOf<const Choices extends readonly string[]>(choices: Choices) {
  return v.picklist(choices, `must be one of ${choices.join(', ')}`)
}

const httpUrl = v.pipe(
  text,
  v.check(
    (url) => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol) && !new URL(url).username,
    'must be a URL such as https://registry:8081, without a login in it',
  ),
)

/** The region that the address of AWS Glue names, unless it is said; null where neither does. */
export function regionOf({ url, region }: { url: string; region?: string | undefined }): string | null {
  return region ?? /(?:^|\.)glue(?:-fips)?\.([a-z0-9-]+)\./.exec(new URL(url).hostname)?.[1] ?? null
}

const registry = v.pipe(
  v.strictObject({
    /** Stands in the database with each schema: a registry that moves keeps its name. */
    name: v.pipe(text, v.regex(/^[\w.-]{1,100}$/, 'must be letters, digits, ".", "_" and "-"')),
    type: v.optional(oneOf(registryTypes), 'confluent'),
    url: httpUrl,
    /** Globs of the original topics or DLQ topics whose schemas it has. */
    topics: v.optional(textList, '*'),
    username: v.optional(text),
    password_file: v.optional(text),
    token_file: v.optional(text),
    token_url: v.optional(httpUrl),
    client_id: v.optional(text),
    client_secret_file: v.optional(text),
    scope: v.optional(text),
    ca_file: v.optional(text),
    cert_file: v.optional(text),
    key_file: v.optional(text),
    /** Of AWS, where the address does not name it. */
    region: v.optional(v.pipe(text, v.regex(/^[a-z0-9-]+$/, 'must be a region such as eu-central-1'))),
    /** Of a whole answer. */
    timeout: v.optional(v.pipe(duration, v.minValue(100, 'must be at least 100ms')), '3s'),
  }),
  v.check(
    ({ username, token_file, token_url }) => [username, token_file, token_url].filter(Boolean).length <= 1,
    'must have one login at most: username, token_file or token_url',
  ),
  v.check(
    ({ username, password_file }) => !username === !password_file,
    'must have username and password_file together',
  ),
  v.check(
    ({ token_url, client_id, client_secret_file }) => !token_url === !client_id && !token_url === !client_secret_file,
    'must have token_url, client_id and client_secret_file together',
  ),
  v.check(({ cert_file, key_file }) => !cert_file === !key_file, 'must have cert_file and key_file together'),
  v.check(
    ({ type, username, token_file, token_url }) => type !== 'glue' || !(username || token_file || token_url),
    'must have no login where its type is glue: AWS’s credentials come from the environment, or from the service’s role',
  ),
  v.check(
    ({ type, url, region }) => type !== 'glue' || !URL.canParse(url) || regionOf({ url, region }) !== null,
    'must have a region where its type is glue, or an address such as https://glue.eu-central-1.amazonaws.com',
  ),
)

const part = v.pipe(
  v.strictObject({
    format: v.optional(oneOf(formats), 'auto'),
    /** For values without a frame: the id of their schema in the registry. */
    schema_id: v.optional(integer('the id of a schema', 1, 2_147_483_647)),
    /** The full name of a type in `files`: Avro without a frame, Protobuf with Confluent's frame or without any. */
    type: v.optional(text),
    compression: v.optional(oneOf(compressions)),
  }),
  v.check(
    ({ format, type }) => (format === 'protobuf' ? type !== undefined : format === 'avro' || type === undefined),
    'must have type together with format protobuf, and else with format avro only',
  ),
  v.check(
    ({ format, schema_id, type }) =>
      format === 'avro' ? (schema_id === undefined) !== (type === undefined) : schema_id === undefined,
    'must have either schema_id or type together with format avro, and schema_id only there',
  ),
)

export const schemas = v.strictObject({
  registries: v.optional(
    v.pipe(
      v.array(registry, 'must be a list of { name, url, … }'),
      v.check(
        (registries) => new Set(registries.map(({ name }) => name)).size === registries.length,
        'must not have two registries of one name',
      ),
    ),
    [],
  ),
  /** A folder with schemas: *.proto, *.desc (of protoc --descriptor_set_out --include_imports) and *.avsc. */
  files: v.optional(text),
  /** Topics that are not recognised by their headers and first bytes, or must not be. */
  rules: v.optional(
    v.array(
      v.strictObject({ topics: textList, key: v.optional(part), value: v.optional(part) }),
      'must be a list of { topics, key, value }',
    ),
    [],
  ),
})

export type RegistryConfig = v.InferOutput<typeof registry>
export type SchemasConfig = v.InferOutput<typeof schemas>
