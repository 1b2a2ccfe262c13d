// The services as real processes. None of them reaches its database here: pools connect when they are first used.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ServiceName, testedMain } from 'dlq-testing/fleet/service-process.ts'
import { freePort } from 'dlq-testing/process/free-port.ts'
import { certificateMaker } from 'dlq-testing/tls/certificates.ts'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { sameSignalMs } from './run-service.ts'

const folder = mkdtempSync(join(tmpdir(), 'dlq-service-'))
const running = new Set<ChildProcess>()

afterEach(() => {
  for (const child of running) child.kill('SIGKILL')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

type Exit = { code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string }
type StartOptions = { name?: ServiceName; args?: string[]; env?: Record<string, string>; nodeFlags?: readonly string[] }

/** With this a service does not restart itself, which would cost each test a second start of Node. */
const lean = ['--max-semi-space-size=4']

/** Starts a service in an empty folder, with nothing of our environment but what Node needs. */
function start({ name = 'api', args = [], env = {}, nodeFlags = lean }: StartOptions = {}) {
  const child = spawn(process.execPath, [...nodeFlags, testedMain(name), ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env },
  })
  running.add(child)
  const output = { stdout: '', stderr: '' }
  const waiting = new Set<() => void>()
  child.stdout.on('data', (chunk) => {
    output.stdout += chunk
    for (const look of waiting) look()
  })
  child.stderr.on('data', (chunk) => (output.stderr += chunk))
  const exited = new Promise<Exit>((resolve) =>
    child.once('close', (code, signal) => {
      running.delete(child)
      resolve({ code, signal, ...output })
    }),
  )
  return {
    child,
    exited,
    /** The log line of this event. */
    logged: (event: string) =>
      new Promise<Record<string, unknown>>((resolve, reject) => {
        const look = () => {
          const line = output.stdout.split('\n').find((line) => line.includes(`"event":"${event}"`))
          if (line) resolve(JSON.parse(line))
        }
        waiting.add(look)
        look()
        void exited.then((exit) => reject(new Error(`ended without ${event}: ${JSON.stringify(exit)}`)))
      }),
  }
}

function configFile(name: string, text: string): string {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

test('the first log line of a service says which deployment it is', async () => {
  const app = {
    DLQ_APP_NAME: 'dlq-payments',
    DLQ_APP_VERSION: '1.2.3',
    DLQ_APP_TIER: 'business',
    DLQ_APP_ENVIRONMENT: 'staging',
  }
  const api = start({ env: { ...app, DATABASE_URL: 'postgres://app@127.0.0.1:9/dlq', DLQ_SERVER_PORT: '0' } })
  expect(await api.logged('service_starting')).toMatchObject({
    ...{ service: 'api', app: 'dlq-payments', version: '1.2.3', tier: 'business', environment: 'staging' },
  })
})

describe('a service whose configuration cannot be used', () => {
  test.each<[ServiceName, string[]]>([
    ['api', ['database: missing; set DATABASE_URL']],
    ['ingester', ['database: missing; set DATABASE_URL', 'kafka.brokers: missing; set KAFKA_BROKERS']],
    ['retrier', ['database: missing; set DATABASE_URL']],
  ])('%s, started bare, exits with 78 and says what is missing', async (name, missing) => {
    const { code, stdout, stderr } = await start({ name, nodeFlags: [] }).exited
    expect({ code, stdout }).toEqual({ code: 78, stdout: '' })
    expect(stderr).toMatch(new RegExp(`^${name}: the configuration has`))
    for (const fault of missing) expect(stderr).toContain(fault)
    expect(stderr).not.toContain(' at ')
  })

  const bad = 'server: { port: x }\nretry: { lease: soon }\ndatabse: {}\n'
  test.each([
    ['--config PATH', { args: ['--config', join(folder, 'bad.yaml')] }],
    ['--config=PATH', { args: [`--config=${join(folder, 'bad.yaml')}`] }],
    ['DLQ_CONFIG', { env: { DLQ_CONFIG: join(folder, 'bad.yaml') } }],
  ])('given by %s, exits with 78 and names every fault', async (_, options: StartOptions) => {
    configFile('bad.yaml', bad)
    const { code, stderr } = await start(options).exited
    expect(code).toBe(78)
    for (const path of ['server.port:', 'retry.lease:', 'databse: unknown key']) expect(stderr).toContain(path)
  })

  test('a file that is not there is named', async () => {
    const { code, stderr } = await start({ args: ['--config', '/nowhere/config.yaml'] }).exited
    expect({ code, stderr }).toEqual({
      code: 78,
      stderr: expect.stringMatching(/^api: cannot read \/nowhere\/config\.yaml: ENOENT/),
    })
  })

  test.each([[['--config']], [['--conifg', 'x.yaml']], [['x.yaml']]])(
    'unknown arguments (%s) are refused',
    async (args) => {
      const { code, stderr } = await start({ args, env: { DATABASE_URL: 'postgres://app@127.0.0.1:1/dlq' } }).exited
      expect({ code, stderr }).toEqual({ code: 64, stderr: expect.stringContaining('usage: [--config PATH]') })
    },
  )

  test('config.yaml in the working directory is read by default', async () => {
    const path = configFile('config.yaml', bad)
    try {
      const { code, stderr } = await start().exited
      expect({ code, stderr }).toEqual({ code: 78, stderr: expect.stringContaining('server.port:') })
    } finally {
      rmSync(path)
    }
  })
})

describe('--check-config', () => {
  const secret = 's3cret-value'

  test('prints the effective configuration as a valid file, without its secrets', async () => {
    configFile('secret', secret)
    const text = `server: { port: 9000 }
database: { host: db, name: dlq, user: app, password_file: ${join(folder, 'secret')}, conn_max_lifetime: 90s }
kafka: { brokers: ["kafka:9092"], security_protocol: SASL_SSL, sasl: { mechanism: PLAIN, username: app, password: ${secret} } }
`
    const args = ['--check-config', '--config', configFile('checked.yaml', text)]
    const env = { DLQ_LOG_LEVEL: 'warn', DLQ_SERVER_PROT: '1' }
    const { code, stdout, stderr } = await start({ name: 'ingester', args, env }).exited
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: [
        'warning: DLQ_SERVER_PROT: no such setting; ignored\n',
        'note: database: it does not answer from here, so its version and its encoding were not looked at\n',
      ].join(''),
    })
    expect(stdout).not.toContain(secret)
    for (const line of ['port: 9000', 'user: app', 'password: "***"', 'conn_max_lifetime: 1m30s', 'level: warn'])
      expect(stdout).toContain(line)
    const again = await start({
      name: 'ingester',
      args: ['--check-config', '--config', configFile('again.yaml', stdout)],
    }).exited
    expect(again).toMatchObject({ code: 0, stdout })
  })

  test('masks the password of a URL, and names every fault', async () => {
    const env = { DATABASE_URL: `postgres://app:${secret}@db/dlq`, DLQ_SERVER_PORT: 'x', DLQ_RETRY_LEASE: 'soon' }
    const faulty = await start({ args: ['--check-config'], env }).exited
    expect({ code: faulty.code, stdout: faulty.stdout }).toEqual({ code: 78, stdout: '' })
    for (const fault of ['server.port (DLQ_SERVER_PORT)', 'retry.lease (DLQ_RETRY_LEASE)'])
      expect(faulty.stderr).toContain(fault)
    const { stdout } = await start({ args: ['--check-config'], env: { DATABASE_URL: env.DATABASE_URL } }).exited
    expect(stdout).toContain('url: postgres://app:***@db/dlq')
  })
})

describe('a service that runs', () => {
  const serving = async () => ({
    DATABASE_URL: `postgres://app@127.0.0.1:${await freePort()}/dlq`,
    DLQ_SERVER_PORT: '0',
  })

  test('warns of variables without a meaning', async () => {
    const { child, logged } = start({ env: { ...(await serving()), DLQ_SERVER_PROT: '1' } })
    expect(await logged('config_warning')).toMatchObject({
      warning: 'DLQ_SERVER_PROT: no such setting; ignored',
      level: 'warn',
      service: 'api',
    })
    child.kill('SIGKILL')
  })

  test('tells until when its certificates are valid', async () => {
    const made = certificateMaker(folder)
    made.authority('ca')
    made.certificate('own', { authority: 'ca', extension: 'extendedKeyUsage=clientAuth' })
    const files = { ssl_cert_file: made.path('own.pem'), ssl_key_file: made.path('own.key') }
    const config = configFile('tls.yaml', JSON.stringify({ database: { ssl_mode: 'require', ...files } }))
    const { logged } = start({ args: ['--config', config], env: await serving() })
    const { url } = await logged('listening')
    const text = await (await fetch(`${url}/metrics`)).text()
    const [, seconds] = /^dlq_certificate_expiry_timestamp_seconds\{of="PostgreSQL"\} (\d+)$/m.exec(text) ?? []
    expect(Number(seconds) * 1000).toBeGreaterThan(Date.now())
  })

  test.each(['SIGTERM', 'SIGINT'] as const)(
    'ends in order with 0 after %s, an idle connection notwithstanding',
    async (signal) => {
      // As in production, the process that gets the signal is the one that has restarted itself.
      const { child, logged, exited } = start({ env: await serving(), nodeFlags: [] })
      const { url } = await logged('listening')
      expect((await fetch(`${url}/healthz`)).status).toBe(200)
      child.kill(signal)

      const { code, stdout, stderr } = await exited
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(stdout).toContain('"event":"service_stopped"')
    },
  )

  test('ends with 0 when the signal arrives during its start', async () => {
    const { child, logged, exited } = start({ env: await serving() })
    await logged('service_starting')
    child.kill('SIGTERM')
    expect(await exited).toMatchObject({ code: 0, stderr: '' })
  })

  // A request whose body never comes to its end keeps the server from closing.
  async function hangingRequest(url: string) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.on('error', () => {})
    const fields = ['host: x', 'transfer-encoding: chunked', 'expect: 100-continue']
    socket.write(`POST /api/v1/dlq/orders/retry-all HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`)
    // "100 Continue": the server has begun with it.
    await once(socket, 'data')
    socket.write('1\r\nx\r\n')
    return socket
  }

  test('ends at once after a second SIGTERM, which one that npx passes on is not', async () => {
    const { child, logged, exited } = start({ env: await serving() })
    const { url } = await logged('listening')
    const socket = await hangingRequest(String(url))
    child.kill('SIGTERM')
    await logged('service_stopping')
    child.kill('SIGTERM')
    await sleep(sameSignalMs + 100)
    expect(child.exitCode).toBeNull()
    child.kill('SIGTERM')

    const { code, stdout } = await exited
    socket.destroy()
    expect(code).toBe(1)
    expect(stdout).toContain('"event":"service_stopped_at_once"')
    expect(stdout).not.toContain('"event":"service_stopped"')
  })

  test('ends a drain that takes longer than its time', async () => {
    const { child, logged, exited } = start({ env: { ...(await serving()), DLQ_APP_SHUTDOWN_TIMEOUT: '300ms' } })
    const { url } = await logged('listening')
    const socket = await hangingRequest(String(url))
    child.kill('SIGTERM')

    const { code, stdout } = await exited
    socket.destroy()
    expect(code).toBe(1)
    expect(stdout).toContain('"event":"shutdown_timed_out"')
  })

  test('ends with 1 and a log line when its port is taken', async () => {
    const first = start({ env: await serving() })
    const { url } = await first.logged('listening')
    const { code, stdout } = await start({ env: { ...(await serving()), DLQ_SERVER_PORT: new URL(String(url)).port } })
      .exited
    first.child.kill('SIGKILL')

    expect(code).toBe(1)
    expect(stdout).toMatch(/"event":"service_failed"/)
    expect(stdout).toContain('EADDRINUSE')
  })
})
