// Asks a registry for a schema with everything that it refers to. Confluent's interface, which Karapace, Redpanda and
// Apicurio have too: https://docs.confluent.io/platform/current/schema-registry/develop/api.html
// Apicurio's own (version 3): https://www.apicur.io/registry/docs/apicurio-registry/3.0.x/assets-attachments/registry-rest-api.htm

import type { SchemaDefinition } from '../../domain/payload/create-codec.ts'
import { namedJsonSchema } from '../../domain/payload/json/json-codec.ts'
import { PayloadFault } from '../../domain/payload/payload-fault.ts'
import { describedProtos, namedDescriptor } from '../../domain/payload/protobuf/protobuf-codec.ts'
import type { SchemaRef } from '../../domain/payload/schema-frames.ts'
import type { RegistryConfig } from '../config/schemas-schema.ts'
import type { Log } from '../log.ts'
import type { Environment } from './aws-credentials.ts'
import { createGlueFetcher } from './fetch-glue.ts'
import { NoSchema } from './no-schema.ts'
import { createRegistryRequest, RegistryAway, type RegistryRequest } from './registry-request.ts'

export type Fetched = { kind: 'known'; schema: SchemaDefinition } | { kind: 'missing' | 'refused'; problem: string }

/** @throws {RegistryAway} where the registry says nothing of the schema */
export type FetchSchema = (ref: Pick<SchemaRef, 'kind' | 'id'>) => Promise<Fetched>

const maxReferences = 50
const maxReferenceDepth = 10

/** `env`: where AWS's credentials are looked for. */
type Deps = { log: Log; env: Environment; now: () => number }

export function createRegistryClient(registry: RegistryConfig, { log, ...aws }: Deps): FetchSchema {
  const request = createRegistryRequest(registry, log)
  const fetchWhole = {
    ...{ confluent: fetchConfluent, apicurio: fetchApicurio, azure: fetchAzure },
    glue: registry.type === 'glue' ? createGlueFetcher(registry, aws) : fetchConfluent,
  }[registry.type]
  return async (ref) => {
    try {
      const schema = await fetchWhole(request, ref)
      if ([schema.definition, ...schema.references].some((text) => text.includes('\0')))
        throw new NoSchema('missing', 'the schema holds U+0000, which PostgreSQL cannot store')
      return { kind: 'known', schema }
    } catch (error) {
      if (error instanceof NoSchema) return { kind: error.kind, problem: error.message }
      throw error
    }
  }
}

async function get(request: RegistryRequest, path: string): Promise<string> {
  const { status, text } = await request(path)
  if (status === 200) return text
  if (status === 404) throw new NoSchema('missing', `the registry has no ${path}`)
  if (status === 401 || status === 403) throw new NoSchema('refused', `the registry answered ${status} to ${path}`)
  throw new RegistryAway(`the registry answered ${status} to ${path}`)
}

async function getJson<Answer>(request: RegistryRequest, path: string): Promise<Answer> {
  const answer = parseJson(await get(request, path), path)
  if (typeof answer !== 'object' || answer === null) throw ofAnotherForm(path)
  return answer as Answer
}

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new RegistryAway(`the registry’s answer to ${path} is not JSON`)
  }
}

function ofAnotherForm(path: string): NoSchema {
  return new NoSchema('missing', `the registry’s answer to ${path} is of another form than its interface has`)
}

/** A list of objects in an answer; empty where there is none. */
function listIn<Item>(list: readonly Item[] | null | undefined, path: string): readonly Item[] {
  const given = list ?? []
  if (!Array.isArray(given) || given.some((item) => typeof item !== 'object' || item === null))
    throw ofAnotherForm(path)
  return given
}

type Rule = { type?: unknown }
type ConfluentReference = { name?: unknown; subject?: unknown; version?: unknown }
type ConfluentSchema = {
  schema?: unknown
  schemaType?: unknown
  references?: ConfluentReference[] | null
  ruleSet?: { domainRules?: Rule[] | null; encodingRules?: Rule[] | null } | null
}

const confluentTypes = new Map<unknown, SchemaDefinition['type']>([
  [undefined, 'avro'],
  [null, 'avro'],
  ['AVRO', 'avro'],
  ['JSON', 'json'],
  ['PROTOBUF', 'protobuf'],
])

async function fetchConfluent(request: RegistryRequest, { kind, id }: Pick<SchemaRef, 'kind' | 'id'>) {
  const path = kind === 'guid' ? `/schemas/guids/${id}` : `/schemas/ids/${id}`
  const found = await getJson<ConfluentSchema>(request, path)
  const type = confluentTypes.get(found.schemaType)
  if (typeof found.schema !== 'string' || type === undefined)
    throw new NoSchema('missing', `the registry’s answer to ${path} holds no schema of a known type`)
  const { domainRules, encodingRules } = found.ruleSet ?? {}
  const rules = [...listIn(domainRules, path), ...listIn(encodingRules, path)]
  const encrypted = rules.some((rule) => rule.type === 'ENCRYPT_PAYLOAD')
  if (type === 'protobuf') {
    const own = { schema: found.schema, references: listIn(found.references, path) }
    const references = await fetchDescriptors(request, path, own)
    return { type, definition: found.schema, references, encrypted }
  }
  const references = await collectReferences(listIn(found.references, path), {
    nameOf: ({ subject, version }) => `/subjects/${encodeURIComponent(String(subject))}/versions/${Number(version)}`,
    fetch: async (path, { name }) => {
      const { schema, references } = await getJson<ConfluentSchema>(request, path)
      const definition = type === 'json' ? namedJsonSchema(String(schema), String(name)) : String(schema)
      return { definition, references: listIn(references, path) }
    },
  })
  return { type, definition: found.schema, references, encrypted }
}

/**
 * The descriptors of a Protobuf schema, its own last. Made of the texts where the registry gives none: Apicurio 3.0.9
 * ignores `format=serialized`, and Karapace answers 500 where there are references.
 */
async function fetchDescriptors(
  request: RegistryRequest,
  path: string,
  { schema, references }: { schema: string; references: readonly ConfluentReference[] },
): Promise<string[]> {
  const serialized = '?format=serialized'
  const { status, text } = await request(`${path}${serialized}`)
  const own = status === 200 ? descriptorIn(parseAnswer(text)) : null
  const nameOf = ({ subject, version }: ConfluentReference) =>
    `/subjects/${encodeURIComponent(String(subject))}/versions/${Number(version)}`
  if (own !== null) {
    const found = await collectReferences(references, {
      nameOf,
      fetch: async (path, { name }) => {
        const answer = await getJson<ConfluentSchema>(request, `${path}${serialized}`)
        return { definition: descriptorIn(answer, String(name)) ?? '', references: listIn(answer.references, path) }
      },
    })
    if (!found.includes('')) return [...found, own]
  }
  const texts = await collectReferences(references, {
    nameOf,
    fetch: async (path, { name }) => {
      const answer = await getJson<ConfluentSchema>(request, path)
      const references = listIn(answer.references, path)
      return { definition: { name: String(name), text: String(answer.schema) }, references }
    },
  })
  return descriptorsOf([...texts, { name: '', text: schema }])
}

/** None where a text is not understood: then reading a value says why. */
function descriptorsOf(texts: readonly { name: string; text: string }[]): string[] {
  // A text alone is read anew when it is used, so that what is not understood today may be tomorrow.
  if (texts.length === 1) return []
  try {
    return describedProtos(texts)
  } catch (error) {
    if (error instanceof PayloadFault) return []
    throw error
  }
}

function parseAnswer(text: string): ConfluentSchema {
  try {
    return (JSON.parse(text) as ConfluentSchema | null) ?? {}
  } catch {
    return {} // It gives no descriptor then.
  }
}

function descriptorIn({ schema }: ConfluentSchema, name?: string): string | null {
  return typeof schema === 'string' ? namedDescriptor(schema, name) : null
}

/** https://learn.microsoft.com/rest/api/schemaregistry/schema/get-by-id. Its frames are of Avro only. */
async function fetchAzure(request: RegistryRequest, { id }: Pick<SchemaRef, 'id'>): Promise<SchemaDefinition> {
  const path = `/$schemaGroups/$schemas/${id}?api-version=2023-07-01`
  const definition = await get(request, path)
  // A page to sign in at would be taken for the schema until somebody refreshes it.
  parseJson(definition, path)
  return { type: 'avro', definition, references: [], encrypted: false }
}

type ApicurioReference = {
  groupId?: string | null
  artifactId?: string
  version?: string | null
  /** By which the schema imports it. */
  name?: string | null
}

async function fetchApicurio(request: RegistryRequest, { kind, id }: Pick<SchemaRef, 'kind' | 'id'>) {
  const path = `/ids/${kind === 'content' ? 'contentIds' : 'globalIds'}/${id}`
  const definition = await get(request, path)
  const found = await collectReferences(await getReferences(request, path), {
    nameOf: ({ groupId, artifactId, version }) =>
      [
        ['groups', groupId ?? 'default'],
        ['artifacts', String(artifactId)],
        ['versions', String(version)],
      ]
        .map(([collection, name]) => `/${collection}/${encodeURIComponent(name!)}`)
        .join(''),
    fetch: async (path, { name }) => ({
      definition: { name: String(name), text: await get(request, `${path}/content`) },
      references: await getReferences(request, path),
    }),
  })
  const type = typeOf(definition)
  const references =
    type === 'protobuf' ? descriptorsOf([...found, { name: '', text: definition }]) : found.map(({ text }) => text)
  return { type, definition, references, encrypted: false }
}

async function getReferences(request: RegistryRequest, path: string): Promise<readonly ApicurioReference[]> {
  return listIn(await getJson<ApicurioReference[]>(request, `${path}/references`), path)
}

/** Apicurio gives the text alone. */
function typeOf(definition: string): SchemaDefinition['type'] {
  if (!/^\s*[[{"]/.test(definition)) return 'protobuf'
  return /"\$schema"\s*:/.test(definition) ? 'json' : 'avro'
}

/** The definitions that are referred to, each once, after those that it uses itself. */
async function collectReferences<Reference, Definition>(
  references: readonly Reference[],
  {
    nameOf,
    fetch,
  }: {
    nameOf: (reference: Reference) => string
    fetch: (path: string, reference: Reference) => Promise<{ definition: Definition; references: readonly Reference[] }>
  },
): Promise<Definition[]> {
  const collected: Definition[] = []
  const seen = new Set<string>()
  const collect = async (references: readonly Reference[], depth: number): Promise<void> => {
    for (const reference of references) {
      const name = nameOf(reference)
      if (seen.has(name)) continue
      seen.add(name)
      if (seen.size > maxReferences || depth > maxReferenceDepth)
        throw new NoSchema(
          'missing',
          `the schema refers to more than ${maxReferences} others, or ${maxReferenceDepth} deep`,
        )
      const found = await fetch(name, reference)
      await collect(found.references, depth + 1)
      collected.push(found.definition)
    }
  }
  await collect(references, 1)
  return collected
}
