import { describe, expect, test } from 'vitest'
import { compilePolicies } from '../../domain/retry/effective-policy.ts'
import { ConfigError, type ConfigSource, loadConfig, policyLayersOf } from './config.ts'

type Source = Partial<ConfigSource>

const load = (source: Source = {}) => loadConfig({ env: {}, yaml: null, needs: [], ...source })

function faultsOf(source: Source): readonly string[] {
  try {
    load(source)
  } catch (error) {
    if (error instanceof ConfigError) return error.faults
    throw error
  }
  return []
}

describe('the values', () => {
  test('default to a service that listens on loopback only', () => {
    const { config, warnings } = load()
    expect(config.server).toMatchObject({
      host: '127.0.0.1',
      request_timeout: 15_000,
      slow_request: 1000,
      keep_alive: 620_000,
      drain_delay: 1000,
    })
    expect(config.kafka).toMatchObject({ consumer_group: 'dlq-manager.default', dlq_topic_pattern: ['*.dlq.v1'] })
    expect(warnings).toEqual([])
  })

  test('of the specification’s production file are taken as they stand', () => {
    const yaml = `
app:
  name: "dlq-manager"
  version: "0.1.0"
  environment: "production"
server:
  host: "0.0.0.0"
  port: 8080
database:
  host: "postgres.k1s0-system.svc.cluster.local"
  port: 5432
  name: "k1s0_dlq"
  user: "app"
  password: ""
  ssl_mode: "disable"
  max_open_conns: 25
  max_idle_conns: 5
  conn_max_lifetime: "5m"
kafka:
  brokers:
    - "kafka-0.messaging.svc.cluster.local:9092"
  consumer_group: "dlq-manager.default"
  security_protocol: "PLAINTEXT"
  dlq_topic_pattern: "*.dlq.v1"
`
    const { config } = load({ yaml, needs: ['database', 'kafka'] })
    expect(config).toMatchObject({
      app: { name: 'dlq-manager', version: '0.1.0', environment: 'production' },
      server: { host: '0.0.0.0', port: 8080 },
      database: {
        host: 'postgres.k1s0-system.svc.cluster.local',
        name: 'k1s0_dlq',
        max_open_conns: 25,
        conn_max_lifetime: 300_000,
      },
      kafka: { brokers: ['kafka-0.messaging.svc.cluster.local:9092'], dlq_topic_pattern: ['*.dlq.v1'] },
    })
  })

  test('come from the environment where it has any, over the file', () => {
    const yaml = 'server: { port: 1000, host: "::" }\nlog: { level: warn }'
    const env = {
      DLQ_SERVER_PORT: '2000',
      DLQ_RETRY_AUTO_RETRY: 'false',
      DLQ_RETRY_MULTIPLIER: '2.5',
      DLQ_LOG_LEVEL: '',
    }
    const { config } = load({ yaml, env })
    expect(config).toMatchObject({
      server: { port: 2000, host: '::' },
      retry: { auto_retry: false, multiplier: 2.5 },
      log: { level: 'warn' },
    })
  })

  test('of lists may be texts with commas', () => {
    const env = { KAFKA_BROKERS: 'kafka-0:9092, kafka-1:9092', DLQ_KAFKA_DLQ_TOPIC_PATTERN: '*.dlq.v1,*-dlt' }
    expect(load({ env, needs: ['kafka'] }).config.kafka).toMatchObject({
      brokers: ['kafka-0:9092', 'kafka-1:9092'],
      dlq_topic_pattern: ['*.dlq.v1', '*-dlt'],
    })
  })

  test.each([
    ['500ms', 500],
    ['90s', 90_000],
    ['5m', 300_000],
    ['1h30m', 5_400_000],
    ['1d', 86_400_000],
    ['250', 250],
    [250, 250],
    [' 2s ', 2000],
  ])('of durations: %s is %i milliseconds', (text, milliseconds) => {
    expect(load({ yaml: JSON.stringify({ retry: { wait: text } }) }).config.retry.wait).toBe(milliseconds)
  })

  test('of an empty section are its defaults', () => {
    expect(load({ yaml: 'server:\nlog:\n' }).config.log.level).toBe('info')
    expect(load({ yaml: '' }).config).toEqual(load().config)
    expect(load({ yaml: '# nothing\n' }).config).toEqual(load().config)
  })

  test('of the retry section make the retry policy', () => {
    const env = {
      DLQ_RETRY_INITIAL_DELAY: '1s',
      DLQ_RETRY_MAX_DELAY: '1m',
      DLQ_RETRY_MAX_RETRIES: '7',
      DLQ_RETRY_MULTIPLIER: '3',
    }
    const effectivePolicyOf = compilePolicies({ ...policyLayersOf(load({ env }).config), rows: [] })
    expect(effectivePolicyOf({ original_topic: 'orders', dlq_topic: null }).policy).toMatchObject({
      autoRetry: true,
      maxRetries: 7,
      initialDelayMs: 1000,
      multiplier: 3,
      maxDelayMs: 60_000,
    })
  })
})

describe('faults', () => {
  test('are all named at once, each by its path and its variable', () => {
    const yaml = `
server: { port: x, hots: localhost }
database: { max_open_conns: 0, ssl_mode: maybe }
kafka: { brokers: [], security_protocol: TLS }
retry: { lease: soon, auto_retry: perhaps, multiplier: 0.5 }
rety: { max_retries: 3 }
`
    expect(
      faultsOf({ yaml, env: { DLQ_LOG_LEVEL: 'loud', DLQ_RETRY_MAX_RETRIES: '1.5' }, needs: ['database'] }).toSorted(),
    ).toEqual([
      'database.max_open_conns: 0 is not a number of connections (1 to 1000)',
      'database.ssl_mode: must be one of disable, prefer, require, verify-full',
      'database: missing; set DATABASE_URL, or database.host, database.name and database.user',
      'kafka.brokers: must not be empty',
      expect.stringMatching(/^kafka\.security_protocol: must be one of PLAINTEXT, SSL\b/),
      'log.level (DLQ_LOG_LEVEL): must be one of trace, debug, info, warn, error, fatal, silent',
      'retry.auto_retry: must be true or false',
      'retry.lease: "soon" is not a duration such as "500ms", "5m" or "1h30m"',
      'retry.max_retries (DLQ_RETRY_MAX_RETRIES): "1.5" is not a number of attempts (1 to 1000)',
      'retry.multiplier: 0.5 is not a factor (1 to 100)',
      expect.stringMatching(/^rety: unknown key; known here: app, server, database, kafka, ingest, retry, /),
      'server.hots: unknown key; known here: host, port, request_timeout, slow_request, keep_alive, drain_delay, public_url, console, allowed_hosts, trusted_proxies, cors_origins',
      'server.port: "x" is not a port number (0 to 65535)',
    ])
  })

  test.each([
    [
      'auth: { tokens: [{ name: a, sha: x, role: sys_admin }] }',
      'auth.tokens.0',
      'sha256',
      'sha',
      'name, sha256, role, topics',
    ],
    [
      'auth: { tokens: [{ name: a, sha256: x, grants: [{ rol: x }] }] }',
      'auth.tokens.0.grants.0',
      'role',
      'rol',
      'role, topics',
    ],
    ['kafka: { topics: [{ dlq: a, orig: b }] }', 'kafka.topics.0', 'original', 'orig', 'dlq, original'],
    [
      'notifications: { channels: [{ name: a, kind: slack, url: b }] }',
      'notifications.channels.0',
      'url_file',
      'url',
      'name, kind, url_file',
    ],
    ['schemas: { registries: [{ name: a, uri: b }] }', 'schemas.registries.0', 'url', 'uri', 'name, type, url'],
    ['schemas: { rules: [{ topic: a, value: {} }] }', 'schemas.rules.0', 'topics', 'topic', 'topics, key, value'],
    ['console: { deployments: [{ name: a, uri: b }] }', 'console.deployments.0', 'url', 'uri', 'name, url'],
    ['masks: [{ topic: a, key: hide }]', 'masks.0', 'topics', 'topic', 'topics, hide, show'],
    ['policies: [{ patern: a }]', 'policies.0', 'pattern', 'patern', 'pattern, auto_retry'],
  ])(
    'in an entry of a list tell which key is missing, and which are known there: %s',
    (yaml, at, missing, unknown, known) => {
      const faults = faultsOf({ yaml })
      expect(faults).toContain(`${at}.${missing}: missing; it must be set`)
      expect(faults).toContainEqual(expect.stringContaining(`${at}.${unknown}: unknown key; known here: ${known}`))
    },
  )

  test('stand in the message, one a line', () => {
    const error = new ConfigError(['a: wrong', 'b: wrong'])
    expect(error.message).toBe('the configuration has 2 faults:\n  a: wrong\n  b: wrong')
  })

  test.each(['x', '', '-1', '65536', '8080.5', '80 80', 'null'])('a port "%s" is one', (port) => {
    expect(faultsOf({ yaml: JSON.stringify({ server: { port } }) })).toEqual([
      `server.port: "${port}" is not a port number (0 to 65535)`,
    ])
  })

  test.each(['5 minutes', '-5m', '1.5s', '5M', ''])('a duration "%s" is one', (text) => {
    expect(faultsOf({ yaml: JSON.stringify({ retry: { wait: text } }) })).toEqual([
      expect.stringContaining('retry.wait: '),
    ])
  })

  test.each([
    ['retry.wait', '25d', 'at most 24d'],
    ['database.statement_timeout', '99999999999999999999', 'at most 24d'],
    ['retry.lease', '10ms', 'at least 1s'],
    ['retry.poll_interval', '0', 'at least 10ms'],
    ['retry.max_delay', '367d', 'at most 366d'],
  ])('a duration that no timer or policy can hold is one: %s of %s', (path, value, bound) => {
    const [section, key] = path.split('.') as [string, string]
    expect(faultsOf({ yaml: JSON.stringify({ [section]: { [key]: value } }) })).toEqual([`${path}: must be ${bound}`])
  })

  test.each(['https://dlq.example.com', 'http://127.0.0.1:8080/', 'https://ops.example.com/team/dlq'])(
    'the address %s, with or without a path, is none',
    (public_url) => {
      expect(load({ yaml: JSON.stringify({ server: { public_url } }) }).config.server.public_url).toBe(public_url)
    },
  )

  test.each(['dlq.example.com', 'https://a.example.com/?b', 'https://a.example.com/../b', 'https://a.example.com/"'])(
    'the address %s is one',
    (public_url) => {
      const faults = faultsOf({ yaml: JSON.stringify({ server: { public_url } }) })
      expect(faults).toEqual([expect.stringMatching(/^server\.public_url: must be a URL such as /)])
    },
  )

  test.each(['*', 'https://a.example.com/', 'https://A.example.com', 'https://a.example.com:443', 'a.example.com'])(
    'an origin that no browser sends as %s is one',
    (origin) => {
      expect(
        faultsOf({ yaml: JSON.stringify({ server: { cors_origins: ['http://localhost:5173', origin] } }) }),
      ).toEqual([expect.stringMatching(/^server\.cors_origins.*: must be origins as browsers send them, such as /)])
    },
  )

  test('an original topic with the text of a wildcard that is not there is one', () => {
    const faults = (dlq: string, original: string) =>
      faultsOf({ yaml: JSON.stringify({ kafka: { topics: [{ dlq, original }] } }) })
    expect(faults('*.failed', '$1.$2')).toEqual(['kafka.topics.0.original: uses $2, and dlq has no * for it'])
    expect(faults('*.failed', '$0')).toEqual(['kafka.topics.0.original: uses $0, and dlq has no * for it'])
    expect(faults('*-*.failed', '$2.$1')).toEqual([])
  })

  test('a client of an identity provider that nothing verifies, and a weak key, are two', () => {
    expect(faultsOf({ yaml: 'auth: { oidc: { client_id: dlq } }' })).toEqual([
      expect.stringMatching(/^auth\.oidc\.client_id: needs auth\.jwt/),
    ])
    expect(faultsOf({ yaml: 'auth: { session: { key: short } }' })).toEqual([
      expect.stringMatching(/^auth\.session\.key: must be at least 32 characters/),
    ])
  })

  test('a file that is no YAML is one, with its line', () => {
    const faults = faultsOf({ yaml: 'server:\n  port: 8080\n host: "::"\n' })
    expect(faults[0]).toMatch(/^config\.yaml: .* at line 3/)
  })

  test.each([
    ['an alias that nothing defines', 'server: *defaults'],
    ['a key given twice', 'server: { port: 1 }\nserver: { port: 2 }'],
    ['two documents', 'server: {}\n---\nserver: {}'],
  ])('a file with %s is one', (_, yaml) => {
    expect(faultsOf({ yaml })[0]).toMatch(/^config\.yaml: /)
  })

  test.each(['- server', 'just text', '42'])('a file that holds no sections (%s) is one', (yaml) => {
    expect(faultsOf({ yaml })).toEqual(['config.yaml: must hold sections such as "server:" and "database:"'])
  })

  test('a section that is not a mapping is one, whatever the environment adds to it', () => {
    const fault = ['server: must be a section with keys']
    expect(faultsOf({ yaml: 'server: 8080' })).toEqual(fault)
    expect(faultsOf({ yaml: 'server: []' })).toEqual(fault)
    expect(faultsOf({ yaml: 'auth: { jwt: [] }' })).toEqual(['auth.jwt: must be a section with keys'])
    expect(faultsOf({ yaml: 'names: { topics: [orders] }' })).toEqual(['names.topics: must be a section with keys'])
    expect(faultsOf({ yaml: 'server: 8080', env: { DLQ_SERVER_PORT: '8080' } })).toEqual(fault)
  })

  test('are those of the file alone where it cannot be read', () => {
    expect(faultsOf({ yaml: 'database: [', needs: ['database', 'kafka'] })).toEqual([
      expect.stringMatching(/^config\.yaml: /),
    ])
  })

  const tls = (settings: string) =>
    faultsOf({ needs: ['database'], yaml: `database: { host: db, name: d, user: u, ${settings} }` })

  test('authorities of PostgreSQL that cannot be read, or would not be used, are one', () => {
    expect(tls('ssl_ca_file: /ca.pem, ssl_mode: require')).toEqual([
      'database.ssl_ca_file: is given, but database.ssl_mode is require; make it verify-full',
    ])
    expect(tls('ssl_ca_file: /nowhere/ca.pem, ssl_mode: verify-full')).toEqual([
      expect.stringMatching(/^database\.ssl_ca_file: cannot read the file \/nowhere\/ca\.pem: ENOENT/),
    ])
    expect(tls('ssl_mode: verify-full')).toEqual([])
  })

  test('a certificate for PostgreSQL without its key, or that nobody would be shown, is one', () => {
    expect(tls('ssl_cert_file: /app.pem, ssl_mode: verify-full')).toContain(
      'database.ssl_key_file: missing; database.ssl_cert_file needs its key',
    )
    expect(tls('ssl_cert_file: /app.pem, ssl_key_file: /app.key')).toEqual([
      'database.ssl_cert_file: is given, but database.ssl_mode is disable; make it verify-full, or require',
    ])
    expect(tls('ssl_key_file: /app.key, ssl_mode: prefer')).toEqual([
      'database.ssl_key_file: is given, but database.ssl_mode is prefer; make it verify-full, or require',
    ])
  })

  test('a database that is named nowhere is one, for a service that needs it', () => {
    expect(faultsOf({ needs: ['database'] })).toEqual([
      'database: missing; set DATABASE_URL, or database.host, database.name and database.user',
    ])
    expect(faultsOf({ needs: ['database'], yaml: 'database: { host: db }' })).toEqual([
      'database.name: missing; set it, or DATABASE_URL instead of all',
      'database.user: missing; set it, or DATABASE_URL instead of all',
    ])
    expect(faultsOf({ needs: [] })).toEqual([])
  })

  test('an embedded database is enough, but not beside another one, and not in production', () => {
    const embedded = { needs: ['database'] as const, yaml: 'database: { embedded: true }' }
    expect(faultsOf(embedded)).toEqual([])
    expect(faultsOf({ ...embedded, env: { NODE_ENV: 'production' } })).toEqual([
      'database.embedded: refused with NODE_ENV=production; set DATABASE_URL, or database.host, instead',
    ])
    expect(faultsOf({ ...embedded, env: { DATABASE_URL: 'postgres://app@db/dlq' } })).toEqual([
      'database.embedded: database.url names another server; set only one of the two',
    ])
  })

  test('brokers that are named nowhere are one, for a service that needs them', () => {
    expect(faultsOf({ needs: ['kafka'] })).toEqual([
      expect.stringMatching(/^kafka\.brokers: missing; set KAFKA_BROKERS/),
    ])
    expect(faultsOf({ needs: ['kafka'], env: { KAFKA_BROKERS: ' , ' } })).toEqual([
      expect.stringMatching(/^kafka\.brokers\S* \(KAFKA_BROKERS\): /),
      expect.any(String),
    ])
  })
})

test.each([
  'kafka-0',
  'kafka 0:9092',
  'PLAINTEXT://kafka-0:9092',
  'kafka-0:99999',
  'fd00::1:9092',
  'kafka-0:9092,kafka-1',
])('the brokers %s are refused with words that help', (brokers) => {
  expect(faultsOf({ needs: ['kafka'], env: { KAFKA_BROKERS: brokers } })).toEqual([
    'kafka.brokers (KAFKA_BROKERS): must be host:port of each broker, such as kafka-0:9092 or [fd00::1]:9092',
  ])
})

test('a broker may be an IPv6 address', () => {
  const { config } = load({ needs: ['kafka'], env: { KAFKA_BROKERS: '[fd00::1]:9092, kafka-1:9093' } })
  expect(config.kafka.brokers).toEqual(['[fd00::1]:9092', 'kafka-1:9093'])
})

describe('warnings', () => {
  test('name the variables without a meaning, and only ours', () => {
    const env = {
      DLQ_SERVER_PROT: '1',
      DLQ_API_SERVICE_HOST: '10.0.0.1',
      DLQ_CONFIG: '/etc/dlq.yaml',
      PATH: '/bin',
      KAFKA_BROKER: 'x:1',
    }
    expect(load({ env }).warnings).toEqual([
      'DLQ_SERVER_PROT: no such setting; ignored',
      'DLQ_API_SERVICE_HOST: no such setting; ignored',
    ])
  })
  test('say where a proxy is named that nothing uses, if something calls out', () => {
    const env = { HTTPS_PROXY: 'http://proxy:3128' }
    const yaml = 'notifications: { channels: [{ name: a, kind: slack, url_file: /run/url }] }'
    expect(load({ env, yaml }).warnings).toEqual(['HTTPS_PROXY: nothing uses it without NODE_USE_ENV_PROXY=1'])
    expect(load({ env }).warnings).toEqual([])
    expect(load({ env: { ...env, NODE_USE_ENV_PROXY: '1' }, yaml }).warnings).toEqual([])
  })
})
