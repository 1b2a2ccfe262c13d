// What may stand in config.yaml. One schema validates, converts (durations become milliseconds), gives the type,
// and is what editors check against (infra/config-schema).

import * as v from 'valibot'
import { auth } from './auth-schema.ts'
import { anyDuration, boolean, duration, integer, text, textList } from './config-values.ts'
import { policyFieldSchemas, policyListSchema, requireBackoffList } from './policy-schema.ts'

const app = v.strictObject({
  name: v.optional(text, 'dlq-manager'),
  version: v.optional(text, '0.1.0'),
  tier: v.optional(text, 'system'),
  environment: v.optional(text, 'dev'),
  shutdown_timeout: v.optional(duration, '9s'),
})

const server = v.strictObject({
  host: v.optional(text, '127.0.0.1'),
  port: v.optional(integer('a port number', 0, 65_535)),
  /** An answer takes no longer, whatever the database does. */
  request_timeout: v.optional(duration, '15s'),
  /** Requests that take longer are logged. */
  slow_request: v.optional(duration, '1s'),
  /** After SIGTERM /readyz answers 503 for so long before the service stops listening, so that load balancers look elsewhere. */
  drain_delay: v.optional(duration, '1s'),
  /** Origins of web pages that may use the API; none by default. */
  cors_origins: v.optional(textList),
})

const sslModes = ['disable', 'prefer', 'require', 'verify-full'] as const

const databaseUrl = v.pipe(text, v.regex(/^postgres(ql)?:\/\//, 'must start with postgres://'))

const database = v.strictObject({
  url: v.optional(databaseUrl),
  /** A replica, for the API's lists. */
  read_url: v.optional(databaseUrl),
  host: v.optional(text),
  port: v.optional(integer('a port number', 1, 65_535), 5432),
  name: v.optional(text),
  user: v.optional(text),
  password: v.optional(v.string('must be text'), ''),
  ssl_mode: v.optional(v.picklist(sslModes, `must be one of ${sslModes.join(', ')}`), 'disable'),
  /** The authorities that may sign the server's certificate, PEM; Node's unless given. */
  ssl_ca_file: v.optional(text),
  max_open_conns: v.optional(integer('a number of connections', 1, 1000), 10),
  max_idle_conns: v.optional(integer('a number of connections', 0, 1000), 3),
  conn_max_lifetime: v.optional(duration, '5m'),
  statement_timeout: v.optional(duration, '30s'),
  /** False where a pooler such as PgBouncer gives every transaction another connection. */
  prepare: v.optional(boolean, true),
})

const securityProtocols = ['PLAINTEXT', 'SSL', 'SASL_PLAINTEXT', 'SASL_SSL'] as const
const saslMechanisms = ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512', 'OAUTHBEARER'] as const

/** Which of these go together is decided in kafka-security.ts. */
const kafkaSasl = v.strictObject({
  mechanism: v.optional(v.picklist(saslMechanisms, `must be one of ${saslMechanisms.join(', ')}`)),
  username: v.optional(text),
  password: v.optional(text),
  token_url: v.optional(v.pipe(text, v.regex(/^https?:\/\//, 'must start with https:// or http://'))),
  client_id: v.optional(text),
  client_secret: v.optional(text),
  scope: v.optional(text),
  token_file: v.optional(text),
})

const kafkaTls = v.strictObject({
  ca_file: v.optional(text),
  cert_file: v.optional(text),
  key_file: v.optional(text),
  key_passphrase: v.optional(text),
  server_name: v.optional(text),
  insecure_skip_verify: v.optional(boolean, false),
})

/** `dlq` is a glob; `original` may use what its wildcards stand for as $1, $2 … */
const topicMapping = v.strictObject({ dlq: text, original: text })

const kafka = v.strictObject({
  brokers: v.optional(textList),
  client_id: v.optional(text, 'dlq-manager'),
  consumer_group: v.optional(text, 'dlq-manager.default'),
  security_protocol: v.optional(
    v.picklist(securityProtocols, `must be one of ${securityProtocols.join(', ')}`),
    'PLAINTEXT',
  ),
  sasl: v.optional(kafkaSasl, {}),
  tls: v.optional(kafkaTls, {}),
  dlq_topic_pattern: v.optional(textList, '*.dlq.v1'),
  /** Where the dead letters of a DLQ topic come from, for those whose headers do not say. */
  topics: v.optional(v.array(topicMapping, 'must be a list of { dlq, original }'), []),
  topic_refresh_interval: v.optional(duration, '5s'),
  request_timeout: v.optional(duration, '15s'),
})

const withoutKafka = ['refuse', 'resolve'] as const
const deliveries = ['exactly-once', 'at-least-once'] as const

/** What is said of policies here goes for every topic; the built-in defaults are in retry-policy.ts. */
const retry = v.pipe(
  v.strictObject({
    ...policyFieldSchemas,
    batch_size: v.optional(integer('a number of messages', 1, 5000), 500),
    /** What one batch may take in memory, about. */
    batch_bytes: v.optional(integer('a number of bytes', 1000, 1_000_000_000), 8 * 1024 * 1024),
    /** A slot takes fewer messages at once where a batch takes longer than this. */
    batch_time: v.optional(v.pipe(duration, v.minValue(10, 'must be at least 10ms')), '250ms'),
    /** Batches that one process has under way at once: one slot's commit overlaps with another's claim. */
    slots: v.optional(integer('a number of slots', 1, 64), 2),
    /** Of the retrier as a whole: a slot either has a transactional id or not. */
    delivery: v.optional(v.picklist(deliveries, `must be one of ${deliveries.join(', ')}`), 'exactly-once'),
    /** How long a dead retrier keeps its slots. */
    lease: v.optional(v.pipe(duration, v.minValue(1000, 'must be at least 1s')), '30s'),
    /** Every deployment on a Kafka cluster needs one of its own. */
    transactional_id_prefix: v.optional(
      v.pipe(text, v.regex(/^[\w.-]{1,200}$/, 'must be letters, digits, ".", "_" and "-"')),
      'dlq-retrier',
    ),
    ledger_topic: v.optional(
      v.pipe(text, v.regex(/^(?!\.{1,2}$)[\w.-]{1,249}$/, 'must be a topic name')),
      'dlq-manager.ledger',
    ),
    /** What retries do where no Kafka is configured: be refused, or (for development) count as published. */
    without_kafka: v.optional(v.picklist(withoutKafka, `must be one of ${withoutKafka.join(', ')}`), 'refuse'),
    poll_interval: v.optional(v.pipe(duration, v.minValue(10, 'must be at least 10ms')), '500ms'),
    /** How long POST …/retry waits for the outcome before it answers 202. */
    wait: v.optional(duration, '10s'),
  }),
  requireBackoffList(),
)

/** graphile-worker in the retrier: runs, sagas, archive and other upkeep. */
const worker = v.strictObject({
  /** Jobs that one process has under way at once; its pool has two connections more. */
  concurrency: v.optional(integer('a number of jobs', 1, 64), 4),
  /** Bulk runs that go on at the same time, over all processes; others wait for their turn. */
  max_active_runs: v.optional(integer('a number of runs', 1, 100), 4),
  /** How long a dead process keeps its jobs. */
  lease: v.optional(v.pipe(duration, v.minValue(1000, 'must be at least 1s')), '15s'),
})

const schedule = v.pipe(
  text,
  v.regex(/^(off|([\d*,/-]+ +){4}[\d*,/-]+)$/, 'must be a cron pattern such as "0 3 * * *" (UTC), or "off"'),
)

/** When the retriers do what has to be done now and then; what each does: services/retrier/src/cron/upkeep-jobs.ts. */
const cron = v.strictObject({
  archive: v.optional(schedule, '0 3 * * *'),
  purge: v.optional(schedule, '30 3 * * *'),
  partitions: v.optional(schedule, '10 * * * *'),
  fold: v.optional(schedule, '* * * * *'),
  reconcile: v.optional(schedule, '0 4 * * *'),
  sweep: v.optional(schedule, '* * * * *'),
  sagas: v.optional(schedule, '* * * * *'),
})

const archive = v.strictObject({
  /** How long the archive keeps messages. They are dropped by quarters, so some stay up to three months longer. */
  retention: v.optional(
    v.pipe(
      anyDuration,
      v.minValue(86_400_000, 'must be at least 1d'),
      v.maxValue(36_500 * 86_400_000, 'must be at most 36500d'),
    ),
    '365d',
  ),
  /** How long it is known who changed what. */
  audit_retention: v.optional(v.pipe(anyDuration, v.minValue(86_400_000, 'must be at least 1d')), '730d'),
})

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

const log = v.strictObject({
  level: v.optional(v.picklist(logLevels, `must be one of ${logLevels.join(', ')}`), 'info'),
})

export const configSchema = v.strictObject({
  app: v.optional(app, {}),
  server: v.optional(server, {}),
  database: v.optional(database, {}),
  kafka: v.optional(kafka, {}),
  retry: v.optional(retry, {}),
  worker: v.optional(worker, {}),
  cron: v.optional(cron, {}),
  archive: v.optional(archive, {}),
  policies: v.nullish(policyListSchema, []),
  auth: v.optional(auth, {}),
  log: v.optional(log, {}),
})

/** Settings whose value may stand in a file of its own, which `NAME_file` beside them names. */
export const secretSettings: readonly (readonly string[])[] = [
  ['database', 'url'],
  ['database', 'read_url'],
  ['database', 'user'],
  ['database', 'password'],
  ['kafka', 'sasl', 'username'],
  ['kafka', 'sasl', 'password'],
  ['kafka', 'sasl', 'client_secret'],
  ['kafka', 'tls', 'key_passphrase'],
]

export type Config = v.InferOutput<typeof configSchema>
export type DatabaseConfig = Config['database']
export type KafkaConfig = Config['kafka'] & { brokers: string[] }

/** A section of the configuration: keys that are settings, or sections again. */
export type SectionSchema = { readonly entries: Readonly<Record<string, v.GenericSchema>> }

/** The section that a key holds, or null where it holds a setting or is unknown. */
export function sectionSchema(schema: v.GenericSchema | undefined): SectionSchema | null {
  const inner = schema?.type === 'optional' ? (schema as unknown as { wrapped: v.GenericSchema }).wrapped : schema
  return inner?.type === 'strict_object' ? (inner as unknown as SectionSchema) : null
}

/** The path of every setting: ['server', 'port'], ['kafka', 'sasl', 'username'] … */
export function settingPaths({ entries }: SectionSchema): string[][] {
  return Object.entries(entries).flatMap(([key, schema]) => {
    const section = sectionSchema(schema)
    return section === null ? [[key]] : settingPaths(section).map((path) => [key, ...path])
  })
}
