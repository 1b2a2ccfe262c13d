// What may stand in config.yaml. One schema validates, converts (durations become milliseconds) and
// gives the type. Numbers and lists may be text too, because environment variables are.

import * as v from 'valibot'

const durationUnitsMs: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** "500ms", "5m", "1h30m", or a plain number of milliseconds → milliseconds. */
const duration = v.pipe(
  v.union([v.number(), v.string()], 'must be a duration such as "500ms", "5m" or "1h30m"'),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const text = String(dataset.value).trim()
    if (/^\d+$/.test(text)) return Number(text)
    if (/^(\d+(ms|s|m|h|d))+$/.test(text)) {
      let total = 0
      for (const [, amount, unit] of text.matchAll(/(\d+)(ms|s|m|h|d)/g))
        total += Number(amount) * durationUnitsMs[unit!]!
      return total
    }
    addIssue({ message: `${JSON.stringify(dataset.value)} is not a duration such as "500ms", "5m" or "1h30m"` })
    return NEVER
  }),
)

function integer(what: string, min: number, max: number) {
  return v.pipe(
    v.union([v.number(), v.string()], `must be ${what} (${min} to ${max})`),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      const value =
        typeof dataset.value === 'string' && dataset.value.trim() !== '' ? Number(dataset.value) : dataset.value
      if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value
      addIssue({ message: `${JSON.stringify(dataset.value)} is not ${what} (${min} to ${max})` })
      return NEVER
    }),
  )
}

function decimal(what: string, min: number, max: number) {
  return v.pipe(
    v.union([v.number(), v.string()], `must be ${what} (${min} to ${max})`),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      const value = Number(dataset.value)
      if (Number.isFinite(value) && value >= min && value <= max) return value
      addIssue({ message: `${JSON.stringify(dataset.value)} is not ${what} (${min} to ${max})` })
      return NEVER
    }),
  )
}

const boolean = v.pipe(
  v.union([v.boolean(), v.picklist(['true', 'false'])], 'must be true or false'),
  v.transform((value) => value === true || value === 'true'),
)

const text = v.pipe(v.string('must be text'), v.minLength(1, 'must not be empty'))

/** A list, or text with commas. */
const textList = v.pipe(
  v.union(
    [
      v.pipe(
        v.string(),
        v.transform((list) => list.split(',').map((item) => item.trim())),
      ),
      v.array(text),
    ],
    'must be a list of texts',
  ),
  v.array(v.pipe(v.string(), v.minLength(1, 'must not hold an empty entry'))),
  v.minLength(1, 'must not be empty'),
)

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
})

const sslModes = ['disable', 'prefer', 'require', 'verify-full'] as const

const database = v.strictObject({
  url: v.optional(v.pipe(text, v.regex(/^postgres(ql)?:\/\//, 'must start with postgres://'))),
  host: v.optional(text),
  port: v.optional(integer('a port number', 1, 65_535), 5432),
  name: v.optional(text),
  user: v.optional(text),
  password: v.optional(v.string('must be text'), ''),
  ssl_mode: v.optional(v.picklist(sslModes, `must be one of ${sslModes.join(', ')}`), 'disable'),
  max_open_conns: v.optional(integer('a number of connections', 1, 1000), 10),
  max_idle_conns: v.optional(integer('a number of connections', 0, 1000), 3),
  conn_max_lifetime: v.optional(duration, '5m'),
  statement_timeout: v.optional(duration, '30s'),
})

const securityProtocols = ['PLAINTEXT', 'SSL'] as const

const kafka = v.strictObject({
  brokers: v.optional(textList),
  client_id: v.optional(text, 'dlq-manager'),
  consumer_group: v.optional(text, 'dlq-manager.default'),
  security_protocol: v.optional(
    v.picklist(securityProtocols, `must be one of ${securityProtocols.join(', ')}`),
    'PLAINTEXT',
  ),
  dlq_topic_pattern: v.optional(textList, '*.dlq.v1'),
  topic_refresh_interval: v.optional(duration, '5s'),
  request_timeout: v.optional(duration, '15s'),
})

const retry = v.strictObject({
  auto_retry: v.optional(boolean, true),
  max_retries: v.optional(integer('a number of attempts', 1, 1000), 3),
  initial_delay: v.optional(duration, '5m'),
  multiplier: v.optional(decimal('a factor', 1, 100), 4),
  max_delay: v.optional(duration, '24h'),
  batch_size: v.optional(integer('a number of messages', 1, 5000), 500),
  lease: v.optional(duration, '60s'),
  poll_interval: v.optional(duration, '500ms'),
  /** How long POST …/retry waits for the outcome before it answers 202. */
  wait: v.optional(duration, '10s'),
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
  log: v.optional(log, {}),
})

export type Config = v.InferOutput<typeof configSchema>
export type DatabaseConfig = Config['database']
export type KafkaConfig = Config['kafka'] & { brokers: string[] }
