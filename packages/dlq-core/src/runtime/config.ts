// Reads the configuration: config.yaml, then environment variables over it, then secrets from
// files. Every fault is reported at once, each by its path, because the person who reads them is
// deploying and has no patience for one fault per start.

import { readFileSync } from 'node:fs'
import * as v from 'valibot'
import { parseDocument } from 'yaml'
import type { RetryPolicy } from '../retry-policy.ts'
import { type Config, configSchema } from './config-schema.ts'

/** The configuration cannot be used. `faults` name each path and the remedy. */
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

export type ConfigSource = {
  env: Readonly<Record<string, string | undefined>>
  /** Text of config.yaml; null where there is none. */
  yaml: string | null
  /** What the service cannot do without. */
  needs: readonly ('database' | 'kafka')[]
  readSecret?: (path: string) => string
}

type RawConfig = Record<string, Record<string, unknown> | undefined>

/**
 * The validated configuration.
 * Environment: DLQ_SECTION_KEY (DLQ_SERVER_PORT), DATABASE_URL, KAFKA_BROKERS; each with the suffix
 * _FILE takes its value from the file named. `warnings` name DLQ_ variables that mean nothing.
 *
 * @throws {ConfigError} with every fault
 */
export function loadConfig({ env, yaml, needs, readSecret = readSecretFile }: ConfigSource): {
  config: Config
  warnings: string[]
} {
  const faults: string[] = []
  const raw = parseYaml(yaml, faults)
  const { origins, warnings } = applyEnvironment(raw, env, readSecret, faults)

  const parsed = v.safeParse(configSchema, raw)
  for (const issue of parsed.issues ?? []) faults.push(describeIssue(issue, origins))
  if (parsed.success) faults.push(...missingNeeds(parsed.output, needs))
  if (faults.length > 0 || !parsed.success) throw new ConfigError(faults)
  return { config: parsed.output, warnings }
}

function parseYaml(yaml: string | null, faults: string[]): RawConfig {
  const document = parseDocument(yaml ?? '')
  for (const error of document.errors) faults.push(`config.yaml: ${error.message.split('\n')[0]}`)
  const raw: unknown = document.errors.length > 0 ? null : document.toJS()
  if (raw === null || raw === undefined) return {}
  if (typeof raw !== 'object' || Array.isArray(raw)) {
    faults.push('config.yaml: must hold sections such as "server:" and "database:"')
    return {}
  }
  // A section that is written but left empty means its defaults.
  return Object.fromEntries(Object.entries(raw).map(([name, section]) => [name, section ?? {}]))
}

function applyEnvironment(
  raw: RawConfig,
  env: ConfigSource['env'],
  readSecret: (path: string) => string,
  faults: string[],
) {
  const variables = new Map<string, [section: string, key: string]>([
    ['DATABASE_URL', ['database', 'url']],
    ['KAFKA_BROKERS', ['kafka', 'brokers']],
  ])
  for (const [section, schema] of Object.entries(configSchema.entries)) {
    for (const key of Object.keys(schema.wrapped.entries))
      variables.set(`DLQ_${section}_${key}`.toUpperCase(), [section, key])
  }
  const origins = new Map<string, string>()
  const warnings: string[] = []
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || value === '') continue
    const fromFile = name.endsWith('_FILE') && variables.has(name.slice(0, -'_FILE'.length))
    const path = variables.get(fromFile ? name.slice(0, -'_FILE'.length) : name)
    if (!path) {
      // A warning only: orchestrators invent variables named after services (DLQ_API_SERVICE_HOST).
      if (name.startsWith('DLQ_') && name !== 'DLQ_CONFIG') warnings.push(`${name}: no such setting; ignored`)
      continue
    }
    const [section, key] = path
    try {
      const settings = raw[section] ?? {}
      if (typeof settings === 'object') raw[section] = { ...settings, [key]: fromFile ? readSecret(value) : value }
      origins.set(path.join('.'), name)
    } catch (error) {
      faults.push(`${name}: cannot read the file ${value}: ${(error as Error).message}`)
    }
  }
  const passwordFile = raw.database?.password_file
  if (typeof passwordFile === 'string') {
    const { password_file, ...database } = raw.database!
    try {
      raw.database = { ...database, password: readSecret(passwordFile) }
    } catch (error) {
      faults.push(`database.password_file: cannot read the file ${passwordFile}: ${(error as Error).message}`)
      raw.database = database
    }
  }
  return { origins, warnings }
}

function describeIssue(issue: v.BaseIssue<unknown>, origins: ReadonlyMap<string, string>): string {
  const path = v.getDotPath(issue) ?? ''
  const leaf = path.split('.').slice(0, 2).join('.')
  const origin = origins.get(leaf)
  const where = origin ? `${path} (${origin})` : path
  if (issue.type === 'strict_object' && issue.expected === 'never') return `${where}: unknown key; ${knownKeys(path)}`
  if (issue.type === 'strict_object') return `${where}: must be a section with keys`
  return `${where}: ${issue.message}`
}

function knownKeys(path: string): string {
  const [section, key] = path.split('.')
  const entries = configSchema.entries as Record<string, { wrapped: { entries: object } }>
  const keys = key === undefined ? Object.keys(entries) : Object.keys(entries[section!]!.wrapped.entries)
  return `known here: ${keys.join(', ')}`
}

function missingNeeds(config: Config, needs: ConfigSource['needs']): string[] {
  const missing: string[] = []
  const { url, host, name, user } = config.database
  if (needs.includes('database') && url === undefined) {
    const absent = Object.entries({ host, name, user }).flatMap(([key, value]) =>
      value === undefined ? [`database.${key}`] : [],
    )
    if (absent.length === 3)
      missing.push('database: missing; set DATABASE_URL, or database.host, database.name and database.user')
    else if (absent.length > 0)
      missing.push(...absent.map((path) => `${path}: missing; set it, or DATABASE_URL instead of all`))
  }
  if (needs.includes('kafka') && config.kafka.brokers === undefined) {
    missing.push('kafka.brokers: missing; set KAFKA_BROKERS or kafka.brokers, for example ["kafka-0:9092"]')
  }
  return missing
}

function readSecretFile(path: string): string {
  return readFileSync(path, 'utf8').trimEnd()
}

/** The default retry policy, as the section "retry" of the configuration states it. */
export function retryPolicyOf(retry: Config['retry']): RetryPolicy {
  return {
    autoRetry: retry.auto_retry,
    maxRetries: retry.max_retries,
    initialDelayMs: retry.initial_delay,
    multiplier: retry.multiplier,
    maxDelayMs: retry.max_delay,
  }
}
