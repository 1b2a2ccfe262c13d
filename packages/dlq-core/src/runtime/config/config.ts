// Reads the configuration: config.yaml, then environment variables over it, then secrets from
// files. It reports every fault at once, each with its path, so that somebody who deploys
// does not find one fault per start.

import { readFileSync } from 'node:fs'
import * as v from 'valibot'
import { parseDocument } from 'yaml'
import type { PolicyLayers } from '../../domain/retry/effective-policy.ts'
import { databaseTlsFaults } from '../database/database-tls.ts'
import { kafkaSecurityFaults, kafkaSecurityWarnings } from '../kafka/kafka-security.ts'
import { proxyWarnings } from '../outgoing/proxy.ts'
import { certificateWarnings } from '../tls/own-certificates.ts'
import { isAuthConfigured } from './auth-schema.ts'
import {
  type Config,
  configSchema,
  holdsKeys,
  type SectionSchema,
  secretSettings,
  sectionSchema,
  settingPaths,
} from './config-schema.ts'
import { maskFaults } from './masks-schema.ts'
import { readSchemaFiles } from './schema-files.ts'

/** The configuration is faulty. `faults` name each path and the remedy. */
export class ConfigError extends Error {
  readonly faults: readonly string[]

  constructor(faults: readonly string[]) {
    super(
      `the configuration has ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}:\n${faults.map((fault) => `  ${fault}`).join('\n')}`,
    )
    this.name = 'ConfigError'
    this.faults = faults
  }
}

/**
 * 'kafka-if-set': it works without Kafka, but settings of Kafka must be correct.
 * 'auth-beyond-loopback': other machines may reach it only if they must authenticate.
 */
export type Need = 'database' | 'kafka' | 'kafka-if-set' | 'auth-beyond-loopback'

export type ConfigSource = {
  env: Readonly<Record<string, string | undefined>>
  /** Text of config.yaml; null where there is none. */
  yaml: string | null
  /** How its faults call that file. */
  yamlName?: string
  /** The sections that the service needs. */
  needs: readonly Need[]
  readSecret?: (path: string) => string
}

type Section = { readonly [key: string]: unknown }
type Path = readonly string[]

/**
 * The validated configuration.
 * Environment: DLQ_SECTION_KEY (DLQ_SERVER_PORT, DLQ_KAFKA_SASL_USERNAME), DATABASE_URL, KAFKA_BROKERS;
 * each with the suffix _FILE takes its value from the file named. `warnings` name DLQ_ variables
 * without effect, and dangerous settings.
 *
 * @throws {ConfigError} with every fault
 */
export function loadConfig({
  env,
  yaml,
  yamlName = 'config.yaml',
  needs: asked,
  readSecret: readFile = readSecretFile,
}: ConfigSource): {
  config: Config
  warnings: string[]
  /** Path → content of the files that values were taken from. */
  files: ReadonlyMap<string, string>
} {
  const faults: string[] = []
  const files = new Map<string, string>()
  const readSecret = (path: string) => {
    const content = readFile(path)
    files.set(path, content)
    return content
  }
  const fromYaml = parseYaml(yaml, { name: yamlName, faults })
  // A file that cannot be read hides which settings are missing.
  if (faults.length > 0) throw new ConfigError(faults)
  const filled = fillSections(fromYaml, { schema: configSchema, path: [], faults })
  const { raw: fromBoth, origins, warnings } = applyEnvironment(filled, env, readSecret, faults)
  const hasKafka = get(fromBoth, ['kafka', 'brokers']) !== undefined
  const needs = asked.map((need) => (need === 'kafka-if-set' && hasKafka ? 'kafka' : need))
  const raw = readSecretSettings(fromBoth, { needs, origins, readSecret, faults })

  const parsed = v.safeParse(configSchema, raw)
  for (const issue of parsed.issues ?? []) faults.push(describeIssue(issue, origins))
  const isEmbedded = parsed.success && parsed.output.database.embedded
  if (parsed.success && isEmbedded) faults.push(...embeddedFaults(parsed.output, env))
  faults.push(...missingNeeds(raw, isEmbedded ? needs.filter((need) => need !== 'database') : needs))
  if (parsed.success && needs.includes('kafka')) faults.push(...kafkaSecurityFaults(parsed.output.kafka))
  if (parsed.success && needs.includes('database')) faults.push(...databaseTlsFaults(parsed.output.database))
  if (parsed.success && needs.includes('auth-beyond-loopback')) faults.push(...authFaults(parsed.output))
  if (parsed.success && needs.includes('auth-beyond-loopback')) faults.push(...maskFaults(parsed.output))
  if (parsed.success && parsed.output.schemas) faults.push(...readSchemaFiles(parsed.output.schemas).faults)
  // Of two checks of one setting that say the same, one is enough.
  if (faults.length > 0 || !parsed.success) throw new ConfigError([...new Set(faults)])
  if (needs.includes('kafka')) warnings.push(...kafkaSecurityWarnings(parsed.output.kafka))
  warnings.push(
    ...unusedDatabaseWarnings(raw),
    ...certificateWarnings(parsed.output),
    ...proxyWarnings(parsed.output, env),
  )
  return { config: parsed.output, warnings, files }
}

function parseYaml(yaml: string | null, { name, faults }: { name: string; faults: string[] }): Section {
  const document = parseDocument(yaml ?? '')
  for (const error of document.errors) faults.push(`${name}: ${error.message.split('\n')[0]!.replace(/:$/, '')}`)
  if (faults.length > 0) return {}
  let raw: unknown
  try {
    raw = document.toJS()
  } catch (error) {
    // An undefined alias, or far too many aliases.
    faults.push(`${name}: ${(error as Error).message}`)
    return {}
  }
  if (raw === null || raw === undefined) return {}
  if (!isSection(raw)) {
    faults.push(`${name}: must hold sections such as "server:" and "database:"`)
    return {}
  }
  return raw
}

/** A section that is written but empty has its defaults. valibot takes a list for one, too. */
function fillSections(
  raw: Section,
  { schema, path, faults }: { schema: SectionSchema; path: Path; faults: string[] },
): Section {
  const entries = Object.entries(raw).map(([key, value]) => {
    const section = sectionSchema(schema.entries[key])
    const content = value ?? {}
    const below = [...path, key]
    if (Array.isArray(content) && holdsKeys(schema.entries[key]))
      faults.push(`${below.join('.')}: must be a section with keys`)
    const isFilled = section !== null && isSection(content)
    return [key, isFilled ? fillSections(content, { schema: section, path: below, faults }) : value]
  })
  return Object.fromEntries(entries)
}

function applyEnvironment(
  fromYaml: Section,
  env: ConfigSource['env'],
  readSecret: (path: string) => string,
  faults: string[],
) {
  const variables = new Map<string, Path>([
    ['DATABASE_URL', ['database', 'url']],
    ['KAFKA_BROKERS', ['kafka', 'brokers']],
    ...settingPaths(configSchema).map((path): [string, Path] => [`DLQ_${path.join('_')}`.toUpperCase(), path]),
  ])
  let raw = fromYaml
  const origins = new Map<string, string>()
  const warnings: string[] = []
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || value === '') continue
    // A setting's own name comes first: DLQ_KAFKA_TLS_CA_FILE is one.
    const fromFile = !variables.has(name) && name.endsWith('_FILE')
    const path = variables.get(fromFile ? name.slice(0, -'_FILE'.length) : name)
    if (!path) {
      // A warning only: orchestrators invent variables named after services (DLQ_API_SERVICE_HOST).
      if (name.startsWith('DLQ_') && name !== 'DLQ_CONFIG') warnings.push(`${name}: no such setting; ignored`)
      continue
    }
    const setting = path.join('.')
    const other = origins.get(setting)
    try {
      const content = fromFile ? readSecret(value) : value
      if (other !== undefined && get(raw, path) !== content)
        faults.push(`${setting}: ${other} and ${name} say different things; set only one of the two`)
      raw = put(raw, path, content)
      origins.set(setting, name)
    } catch (error) {
      faults.push(`${name}: cannot read the file ${value}: ${(error as Error).message}`)
    }
  }
  return { raw, origins, warnings }
}

type SecretSource = {
  needs: ConfigSource['needs']
  origins: ReadonlyMap<string, string>
  readSecret: (path: string) => string
  faults: string[]
}

/** Replaces `NAME_file` by the secret in that file, unless the environment has set the secret. */
function readSecretSettings(raw: Section, { needs, origins, readSecret, faults }: SecretSource): Section {
  return secretSettings.reduce((section, path) => {
    const filePath = [...path.slice(0, -1), `${path.at(-1)}_file`]
    const file = get(section, filePath)
    if (typeof file !== 'string') return section
    const rest = put(section, filePath, undefined)
    // A service that does not talk to Kafka need not be able to read Kafka's secrets, nor one without users theirs.
    const needOf: Partial<Record<string, Need>> = {
      kafka: 'kafka',
      auth: 'auth-beyond-loopback',
      masks_secret: 'auth-beyond-loopback',
    }
    const need = needOf[path[0]!]
    const isIdle = need !== undefined && !needs.includes(need)
    if (isIdle || origins.has(path.join('.'))) return rest
    try {
      return put(rest, path, readSecret(file))
    } catch (error) {
      faults.push(`${filePath.join('.')}: cannot read the file ${file}: ${(error as Error).message}`)
      return rest
    }
  }, raw)
}

function get(raw: unknown, path: Path): unknown {
  return path.reduce((section, key) => (isSection(section) ? section[key] : undefined), raw)
}

/** A copy with the value at the path, or without the key if the value is undefined; a non-section on the way stays. */
function put(raw: Section, [key = '', ...rest]: Path, value: unknown): Section {
  if (rest.length > 0) {
    const section = raw[key] ?? {}
    return isSection(section) ? { ...raw, [key]: put(section, rest, value) } : raw
  }
  const { [key]: _replaced, ...others } = raw
  return value === undefined ? others : { ...others, [key]: value }
}

function isSection(value: unknown): value is Section {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function describeIssue(issue: v.BaseIssue<unknown>, origins: ReadonlyMap<string, string>): string {
  const path = v.getDotPath(issue) ?? ''
  const keys = path.split('.')
  // An entry of a list takes the variable of the list.
  const origin = keys
    .map((_, last) => origins.get(keys.slice(0, last + 1).join('.')))
    .find((name) => name !== undefined)
  const where = origin ? `${path} (${origin})` : path
  const isOfObject = issue.type === 'strict_object' || issue.type === 'object_with_rest'
  if (isOfObject && issue.expected === `"${keys.at(-1)}"`) return `${where}: missing; it must be set`
  if (issue.type === 'strict_object' && issue.expected === 'never') return `${where}: unknown key; ${knownKeys(keys)}`
  if (issue.type === 'strict_object') return `${where}: must be a section with keys`
  return `${where}: ${issue.message}`
}

function knownKeys(path: Path): string {
  const parent = path.slice(0, -1).reduce(schemaBelow, configSchema)
  return `known here: ${'entries' in parent ? Object.keys(parent.entries as object).join(', ') : 'none'}`
}

/** What a section's key, or a list's entry, must be. */
function schemaBelow(schema: v.GenericSchema, key: string): v.GenericSchema {
  const { entries, item } = schema as Partial<SectionSchema> & { item?: v.GenericSchema }
  return bare(entries?.[key] ?? item ?? schema)
}

/** Without what says that it may be absent. */
function bare(schema: v.GenericSchema): v.GenericSchema {
  return 'wrapped' in schema ? bare(schema.wrapped as v.GenericSchema) : schema
}

function missingNeeds(raw: Section, needs: ConfigSource['needs']): string[] {
  const missing: string[] = []
  const isAbsent = (path: string) => get(raw, path.split('.')) === undefined
  if (needs.includes('database') && isAbsent('database.url')) {
    const absent = ['database.host', 'database.name', 'database.user'].filter(isAbsent)
    if (absent.length === 3)
      missing.push('database: missing; set DATABASE_URL, or database.host, database.name and database.user')
    else missing.push(...absent.map((path) => `${path}: missing; set it, or DATABASE_URL instead of all`))
  }
  if (needs.includes('kafka') && isAbsent('kafka.brokers')) {
    missing.push('kafka.brokers: missing; set KAFKA_BROKERS or kafka.brokers, for example ["kafka-0:9092"]')
  }
  return missing
}

/** A user and a password may stand beside a URL; the other parts are the URL's, wherever each of them was set. */
function unusedDatabaseWarnings(raw: Section): string[] {
  if (get(raw, ['database', 'url']) === undefined) return []
  return ['host', 'port', 'name']
    .filter((key) => get(raw, ['database', key]) !== undefined)
    .map((key) => `database.${key}: has no effect beside database.url (DATABASE_URL)`)
}

/** A server of its own has no backups and no password. */
function embeddedFaults({ database: { url, host } }: Config, env: ConfigSource['env']): string[] {
  const faults: string[] = []
  if (env.NODE_ENV === 'production')
    faults.push('database.embedded: refused with NODE_ENV=production; set DATABASE_URL, or database.host, instead')
  const other = url !== undefined ? 'database.url' : host !== undefined ? 'database.host' : null
  if (other !== null) faults.push(`database.embedded: ${other} names another server; set only one of the two`)
  return faults
}

function authFaults({ server, auth }: Config): string[] {
  const isLoopback = /^(localhost|127(\.\d{1,3}){3}|::1)$/i.test(server.host)
  if (isLoopback || isAuthConfigured(auth)) return []
  return [
    `server.host: ${server.host} can be reached from other machines, and anybody there could read and delete messages; set auth.tokens or auth.jwt, or server.host to 127.0.0.1`,
  ]
}

/** Without the byte order mark that editors on Windows write, and without the end of the line. */
export function readSecretFile(path: string): string {
  return new TextDecoder().decode(readFileSync(path)).trimEnd()
}

/** The configuration's policies; the rows of dlq_policies override them. */
export function policyLayersOf({ retry, policies }: Pick<Config, 'retry' | 'policies'>): Omit<PolicyLayers, 'rows'> {
  // "delivery" here is how the retrier publishes, not the policy's setting.
  const { delivery: _, ...section } = retry
  return { section, fileEntries: policies ?? [] }
}
