// The schema of config.yaml. It validates, converts (durations become milliseconds), gives the type, and makes
// the JSON Schema for editors (infra/config-schema).

import * as v from 'valibot'
import { routeModes } from '../../domain/failure/topic-routes.ts'
import { frameLinkNames, messageLinkNames } from '../../domain/message/link-names.ts'
import { auth } from './auth-schema.ts'
import {
  boolean,
  databaseUrl,
  decades,
  duration,
  hostNames,
  integer,
  linkTemplate,
  networks,
  origins,
  schedule,
  secondOrMore,
  tenthOrMore,
  text,
  textList,
  topicMapping,
} from './config-values.ts'
import { masksSchema, masksSecret } from './masks-schema.ts'
import { notifications } from './notification-schema.ts'
import { policyFieldSchemas, policyListSchema, requireBackoffList } from './policy-schema.ts'
import { schemas } from './schemas-schema.ts'

const app = v.strictObject({
  name: v.optional(text, 'dlq-manager'),
  version: v.optional(text, '0.1.0'),
  tier: v.optional(text, 'system'),
  environment: v.optional(text, 'dev'),
  shutdown_timeout: v.optional(duration, '9s'),
})

const publicUrlForm = 'must be a URL such as https://dlq.example.com or https://ops.example.com/dlq'
const publicUrl = v.pipe(
  text,
  // A path of plain characters, because index.html of the console holds it.
  v.regex(/^https?:\/\/[^\s/?#@]+(\/[\w~-][\w.~-]*)*\/?$/, publicUrlForm),
  v.check((url) => URL.canParse(url), publicUrlForm),
)

const server = v.strictObject({
  host: v.optional(text, '127.0.0.1'),
  port: v.optional(integer('a port number', 0, 65_535)),
  /** After this the API answers 503, even if the database hangs. */
  request_timeout: v.optional(secondOrMore, '15s'),
  /** Requests that take longer are logged. */
  slow_request: v.optional(duration, '1s'),
  /** How long a connection may be idle. */
  keep_alive: v.optional(duration, '620s'),
  /** How long /readyz answers 503 after SIGTERM before the service stops listening, so that load balancers notice. */
  drain_delay: v.optional(duration, '1s'),
  /** The URL under which browsers reach the API, where that is not what it listens on. Proxies strip its path. */
  public_url: v.optional(publicUrl),
  /** Whether the API serves the console under /console/. */
  console: v.optional(boolean, true),
  /** Names under which the API may be asked for; without authentication only these, and those of this machine. */
  allowed_hosts: v.optional(hostNames),
  /** Addresses and networks of proxies whose X-Forwarded-For is believed; none by default. */
  trusted_proxies: v.optional(networks),
  /** Origins of web pages that may use the API; none by default. */
  cors_origins: v.optional(origins),
})

const sslModes = ['disable', 'prefer', 'require', 'verify-full'] as const

const database = v.strictObject({
  url: v.optional(databaseUrl),
  /** A replica, for the API's lists. */
  read_url: v.optional(databaseUrl),
  /** The replica's own login, which may be one that only reads. */
  read_user: v.optional(text),
  read_password: v.optional(v.string('must be text'), ''),
  host: v.optional(text),
  port: v.optional(integer('a port number', 1, 65_535), 5432),
  name: v.optional(text),
  user: v.optional(text),
  password: v.optional(v.string('must be text'), ''),
  ssl_mode: v.optional(v.picklist(sslModes, `must be one of ${sslModes.join(', ')}`), 'disable'),
  /** The authorities that may sign the server's certificate, PEM; Node's unless given. */
  ssl_ca_file: v.optional(text),
  /** Our own certificate, by which PostgreSQL knows us, and its key, PEM. */
  ssl_cert_file: v.optional(text),
  ssl_key_file: v.optional(text),
  max_open_conns: v.optional(integer('a number of connections', 1, 1000), 10),
  max_idle_conns: v.optional(integer('a number of connections', 0, 1000), 3),
  conn_max_lifetime: v.optional(duration, '5m'),
  statement_timeout: v.optional(tenthOrMore, '30s'),
  /** False where a pooler such as PgBouncer gives every transaction another connection. */
  prepare: v.optional(boolean, true),
  /** For development, from a clone: the services start a PostgreSQL of their own, and share it. */
  embedded: v.optional(boolean, false),
  /** Where the data of that PostgreSQL is kept; from the working directory on. */
  embedded_dir: v.optional(text, '.dev/embedded'),
})

const securityProtocols = ['PLAINTEXT', 'SSL', 'SASL_PLAINTEXT', 'SASL_SSL'] as const
const saslMechanisms = ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512', 'OAUTHBEARER'] as const

/** kafka-security.ts decides which of these belong together. */
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

/** A name or an IPv4 address with its port, or an IPv6 address in brackets. An empty item has a fault of its own. */
function isBroker(text: string): boolean {
  const isPlace = /^([^\s:/[\]]+|\[[0-9a-f:.]+\]):[0-9]{1,5}$/i.test(text) && Number(text.split(':').at(-1)) < 65_536
  return text === '' || isPlace
}

const brokerList = v.pipe(
  textList,
  v.check((list) => list.every(isBroker), 'must be host:port of each broker, such as kafka-0:9092 or [fd00::1]:9092'),
)

const kafka = v.strictObject({
  brokers: v.optional(brokerList),
  client_id: v.optional(text, 'dlq-manager'),
  consumer_group: v.optional(text, 'dlq-manager.default'),
  security_protocol: v.optional(
    v.picklist(securityProtocols, `must be one of ${securityProtocols.join(', ')}`),
    'PLAINTEXT',
  ),
  sasl: v.optional(kafkaSasl, {}),
  tls: v.optional(kafkaTls, {}),
  dlq_topic_pattern: v.optional(textList, '*.dlq.v1'),
  /** The original topics of DLQ topics, for dead letters whose headers do not name one. */
  topics: v.optional(v.array(topicMapping, 'must be a list of { dlq, original }'), []),
  /** Whether a DLQ topic may send to an original topic that only its records' headers name. */
  routes: v.optional(v.picklist(routeModes, `must be one of ${routeModes.join(', ')}`), 'ask'),
  /** Globs of the topics that messages may be sent to; all but internal ones by default. */
  allowed_targets: v.optional(textList, '*'),
  topic_refresh_interval: v.optional(tenthOrMore, '5s'),
  request_timeout: v.optional(secondOrMore, '15s'),
})

/** What the ingester stores of a record. */
const ingest = v.strictObject({
  /** A larger value is not stored: the message then has the record's coordinates and the value's size, and cannot be sent. */
  max_value_bytes: v.optional(integer('a number of bytes', 1024, 256 * 1024 * 1024), 16 * 1024 * 1024),
})

const withoutKafka = ['refuse', 'resolve'] as const
const deliveries = ['exactly-once', 'at-least-once'] as const

/** Policy settings here apply to every topic; the built-in defaults are in retry-policy.ts. */
const retry = v.pipe(
  v.strictObject({
    ...policyFieldSchemas,
    batch_size: v.optional(integer('a number of messages', 1, 5000), 2000),
    /** Roughly the memory of one batch. */
    batch_bytes: v.optional(integer('a number of bytes', 1000, 1_000_000_000), 8 * 1024 * 1024),
    /** If a batch takes longer than this, the slot claims fewer messages. */
    batch_time: v.optional(v.pipe(duration, v.minValue(10, 'must be at least 10ms')), '1s'),
    /** Batches that one process handles at once: one slot's commit overlaps with another's claim. */
    slots: v.optional(integer('a number of slots', 1, 64), 3),
    /** Of the retrier as a whole: a slot either has a transactional id or not. */
    delivery: v.optional(v.picklist(deliveries, `must be one of ${deliveries.join(', ')}`), 'exactly-once'),
    /** How long a dead retrier keeps its slots. */
    lease: v.optional(secondOrMore, '30s'),
    /** Each deployment on a Kafka cluster needs its own. */
    transactional_id_prefix: v.optional(
      v.pipe(text, v.regex(/^[\w.-]{1,200}$/, 'must be letters, digits, ".", "_" and "-"')),
      'dlq-retrier',
    ),
    ledger_topic: v.optional(
      v.pipe(text, v.regex(/^(?!\.{1,2}$)[\w.-]{1,249}$/, 'must be a topic name')),
      'dlq-manager.ledger',
    ),
    /** Retries without a configured Kafka: refused, or (for development) counted as published. */
    without_kafka: v.optional(v.picklist(withoutKafka, `must be one of ${withoutKafka.join(', ')}`), 'refuse'),
    poll_interval: v.optional(v.pipe(duration, v.minValue(10, 'must be at least 10ms')), '500ms'),
    /** How long POST …/retry waits for the outcome before it answers 202. */
    wait: v.optional(duration, '10s'),
  }),
  requireBackoffList(),
)

/** graphile-worker in the retrier: runs, sagas and cron jobs. */
const worker = v.strictObject({
  /** Jobs that one process performs at once: each on two connections, and one of graphile-worker's, which has two more. */
  concurrency: v.optional(integer('a number of jobs', 1, 64), 4),
  /** Bulk runs that are active at once, in all processes together; others are queued. */
  max_active_runs: v.optional(integer('a number of runs', 1, 100), 4),
  /** How long a dead process keeps its jobs. */
  lease: v.optional(secondOrMore, '15s'),
})

/** What is known of messages after they were sent: services/retrier/src/readers. */
const verdicts = v.strictObject({
  /** How often the retrier asks Kafka what consumer groups have read. */
  look_interval: v.optional(secondOrMore, '15s'),
  /** How long after a message was read it may still come back. `auto`: as re-failures of late say, at least 150 s. */
  horizon: v.optional(v.union([v.literal('auto'), duration], 'must be "auto" or a duration such as 150s'), 'auto'),
  /** A run whose canary nobody has read after this time pauses. */
  read_timeout: v.optional(duration, '15m'),
})

/** How newer records are looked for, where a policy asks: services/retrier/src/staleness. */
const staleness = v.strictObject({
  /** Bytes that are read for one message at most, from its own record on. */
  max_bytes: v.optional(integer('a number of bytes', 1, 2 ** 40), 64 * 1024 * 1024),
  /** Bytes per second that each retrier reads. */
  rate: v.optional(integer('a number of bytes per second', 1024, 2 ** 40), 5 * 1024 * 1024),
})

/** The schedules of the cron jobs; services/retrier/src/cron/upkeep-jobs.ts says what each does. */
const cron = v.strictObject({
  archive: v.optional(schedule, '0 3 * * *'),
  purge: v.optional(schedule, '30 3 * * *'),
  partitions: v.optional(schedule, '10 * * * *'),
  fold: v.optional(schedule, '* * * * *'),
  payloads: v.optional(schedule, '* * * * *'),
  reconcile: v.optional(schedule, '0 4 * * *'),
  sweep: v.optional(schedule, '* * * * *'),
  decode: v.optional(schedule, '* * * * *'),
  origin: v.optional(schedule, '* * * * *'),
  sagas: v.optional(schedule, '* * * * *'),
})

const dayMs = 86_400_000
const days = v.pipe(
  decades,
  v.minValue(dayMs, 'must be at least 1d'),
  v.maxValue(36_500 * dayMs, 'must be at most 36500d'),
)

const archive = v.strictObject({
  /** How long the archive keeps messages. They are dropped by quarters, so some stay up to three months longer. */
  retention: v.optional(days, '365d'),
  /** How long audit entries stay. */
  audit_retention: v.optional(days, '730d'),
})

const nameById = v.record(
  text,
  v.pipe(text, v.maxLength(200, 'must be at most 200 characters')),
  'must be names by ids, such as { orders.events.v1: Order Events }; only in the file',
)

/** What people call topics and consumer groups, by their ids in Kafka; a name that was given by the API goes first. */
const names = v.strictObject({
  topics: v.optional(nameById, {}),
  consumer_groups: v.optional(nameById, {}),
})

/** Which reads the audit has an entry of. */
export const auditReads = ['none', 'payloads'] as const

const audit = v.strictObject({
  /** `payloads`: each request to the API that is shown a payload, a key or a value. */
  reads: v.optional(v.picklist(auditReads, `must be one of ${auditReads.join(', ')}`), 'none'),
  /** Whether a request with unmask=true must say why. */
  unmask_reason: v.optional(v.picklist(['optional', 'required'], 'must be one of optional, required'), 'optional'),
})

/** Every deployment that the console can lead to, its own among them; the URL is that of its `server.public_url`. */
const deployments = v.pipe(
  v.array(v.strictObject({ name: text, url: publicUrl }), 'must be a list of { name, url }'),
  v.check(
    (all) => new Set(all.map(({ name }) => name)).size === all.length,
    'must not have two deployments of the same name',
  ),
)

/** What the console shows; `server.console` turns it off. */
const consoleSection = v.strictObject({
  /** Beside the name of the environment. */
  title: v.optional(text, 'dlq-manager'),
  /** `hidden`: values, keys and headers show once somebody has asked for them. */
  payloads: v.optional(v.picklist(['shown', 'hidden'], 'must be one of shown, hidden'), 'shown'),
  links: v.optional(
    v.strictObject({
      trace: v.optional(linkTemplate(messageLinkNames)),
      source: v.optional(linkTemplate(frameLinkNames)),
      ticket: v.optional(linkTemplate(['ticket'])),
      logs: v.optional(linkTemplate(messageLinkNames)),
    }),
    {},
  ),
  /** For the switch in the head of the page; none by default. */
  deployments: v.optional(deployments, []),
  /** Origins of pages that may show the console in a frame; none by default. */
  frame_ancestors: v.optional(
    v.pipe(
      textList,
      v.everyItem(
        (origin) => /^https?:\/\/[\w.*:-]+$/.test(origin),
        'must be origins such as https://portal.example.com',
      ),
    ),
  ),
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
  ingest: v.optional(ingest, {}),
  retry: v.optional(retry, {}),
  worker: v.optional(worker, {}),
  verdicts: v.optional(verdicts, {}),
  staleness: v.optional(staleness, {}),
  notifications: v.optional(notifications, {}),
  cron: v.optional(cron, {}),
  archive: v.optional(archive, {}),
  names: v.optional(names, {}),
  /** What of messages the API hides from whom it shows masks; all entries that match a message unite. */
  masks: v.nullish(masksSchema, []),
  masks_secret: v.optional(masksSecret),
  /** Without it, only JSON and text are read. */
  schemas: v.optional(schemas),
  audit: v.optional(audit, {}),
  policies: v.nullish(policyListSchema, []),
  auth: v.optional(auth, {}),
  console: v.optional(consoleSection, {}),
  log: v.optional(log, {}),
})

/** Settings whose value may be in a separate file, which `NAME_file` beside them names. */
export const secretSettings: readonly (readonly string[])[] = [
  ['database', 'url'],
  ['database', 'read_url'],
  ['database', 'read_user'],
  ['database', 'read_password'],
  ['database', 'user'],
  ['database', 'password'],
  ['kafka', 'sasl', 'username'],
  ['kafka', 'sasl', 'password'],
  ['kafka', 'sasl', 'client_secret'],
  ['kafka', 'tls', 'key_passphrase'],
  ['auth', 'session', 'key'],
  ['auth', 'oidc', 'client_secret'],
  ['masks_secret'],
]

export type Config = v.InferOutput<typeof configSchema>
export type DatabaseConfig = Config['database']
export type KafkaConfig = Config['kafka'] & { brokers: string[] }

/** A section of the configuration: its keys are settings or further sections. */
export type SectionSchema = { readonly entries: Readonly<Record<string, v.GenericSchema>> }

/** The section that a key holds, or null where it holds a setting or is unknown. */
export function sectionSchema(schema: v.GenericSchema | undefined): SectionSchema | null {
  const inner = withoutDefault(schema)
  return inner?.type === 'strict_object' ? (inner as unknown as SectionSchema) : null
}

/** Whether a key holds other keys: a section, or names by their ids. */
export const holdsKeys = (schema: v.GenericSchema | undefined): boolean =>
  ['strict_object', 'record'].includes(withoutDefault(schema)?.type ?? '')

const withoutDefault = (schema: v.GenericSchema | undefined) =>
  schema?.type === 'optional' ? (schema as unknown as { wrapped: v.GenericSchema }).wrapped : schema

/** The path of every setting: ['server', 'port'], ['kafka', 'sasl', 'username'] … */
export function settingPaths({ entries }: SectionSchema): string[][] {
  return Object.entries(entries).flatMap(([key, schema]) => {
    const section = sectionSchema(schema)
    return section === null ? [[key]] : settingPaths(section).map((path) => [key, ...path])
  })
}
