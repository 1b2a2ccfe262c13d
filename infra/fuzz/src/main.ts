// Runs Schemathesis against an API of our own, with every check. README.md says how.

import { execFileSync, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { migrateUp } from 'dlq-db/migrate.ts'
import { startService } from 'dlq-testing/fleet/service-process.ts'
import { startPostgres } from 'dlq-testing/postgres/postgres.ts'
import { createReaper } from 'dlq-testing/process/reaper.ts'
import postgres from 'postgres'

const dev = fileURLToPath(new URL('../../../.dev', import.meta.url))
const dataDir = join(dev, 'fuzz')
const settings = fileURLToPath(new URL('../schemathesis.toml', import.meta.url))

process.exitCode = await main(process.argv.slice(2))

async function main(options: readonly string[]): Promise<number> {
  const schemathesis = process.env.SCHEMATHESIS ?? installSchemathesis()
  await using stack = new AsyncDisposableStack()
  const reaper = stack.adopt(createReaper(), (reaper) => reaper.close())
  rmSync(dataDir, { recursive: true, force: true })
  mkdirSync(dataDir, { recursive: true })
  stack.defer(() => rmSync(dataDir, { recursive: true, force: true }))
  const server = stack.adopt(await startPostgres({ dataDir: join(dataDir, 'postgres'), reaper }), (server) =>
    server.stop(),
  )
  await migrateUp({ databaseUrl: server.url })
  await insertExamples(server.url)

  const token = randomBytes(32).toString('base64url')
  const config = join(dataDir, 'config.yaml')
  writeFileSync(config, configWith(createHash('sha256').update(token).digest('hex')))
  const start = async (name: 'api' | 'retrier') => {
    const logFile = join(dev, `fuzz-${name}.log`)
    rmSync(logFile, { force: true })
    const options = { name, databaseUrl: server.url, kafkaBrokers: [], reaper, logFile, env: { DLQ_CONFIG: config } }
    const service = stack.adopt(await startService(options), (service) => service.stop('SIGTERM', 15_000))
    await service.ready()
    return service
  }
  await start('retrier')
  const api = await start('api')
  // Awaited here: the servers go when this function returns.
  return await run(schemathesis, [
    'run',
    await writeDocument(api.url),
    ...['--url', api.url],
    ...['--header', `Authorization: Bearer ${token}`],
    ...['--max-examples', '50', '--continue-on-failure', '--request-timeout', '60'],
    // On a laptop's database, the time to generate a request says nothing about the API.
    ...['--suppress-health-check', 'all'],
    ...options,
  ])
}

type Documented = { paths: Record<string, Record<string, { parameters?: { name: string }[] }>> }

/** The document without values that cannot be invented: a cursor is text from a list's answer. */
async function writeDocument(url: string): Promise<string> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as Documented
  for (const operation of Object.values(document.paths).flatMap((path) => Object.values(path)))
    operation.parameters &&= operation.parameters.filter(({ name }) => name !== 'cursor')
  const file = join(dataDir, 'openapi.json')
  writeFileSync(file, JSON.stringify(document))
  return file
}

/** Retries are settled at once, so that hundreds of requests do not wait for seconds each. */
function configWith(sha256: string): string {
  return `
auth:
  rate_limit: 1000000
  tokens:
    - { name: fuzz, sha256: ${sha256}, role: sys_admin }
retry: { wait: 200ms, poll_interval: 50ms, without_kafka: resolve }
log: { level: warn }
`
}

/** The rows that the document's examples name. */
async function insertExamples(url: string): Promise<void> {
  const sql = postgres(url)
  try {
    await sql`
      insert into dlq.dlq_topics (cluster, topic, partitions) values ('fuzz', 'orders.dlq.v1', 3)`
    await sql`
      insert into dlq.dlq_messages (id, original_topic, dlq_topic, error_message, payload, status)
      select case when n = 1 then '550e8400-e29b-41d4-a716-446655440000' else dlq.new_message_id() end,
             'orders.events.v1', 'orders.dlq.v1', 'processing failed', '{"order_id": "123"}',
             (array['PENDING', 'DEAD', 'RESOLVED'])[1 + n % 3]
      from generate_series(1, 100) n`
  } finally {
    await sql.end()
  }
}

function installSchemathesis(): string {
  const venv = join(dev, 'schemathesis')
  const program = join(venv, 'bin', 'schemathesis')
  if (!existsSync(program)) {
    execFileSync('python3', ['-m', 'venv', venv], { stdio: 'inherit' })
    execFileSync(join(venv, 'bin', 'pip'), ['install', '--quiet', 'schemathesis==4.32.5'], { stdio: 'inherit' })
  }
  return program
}

function run(command: string, args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    // Its caches and reports belong to the run.
    const child = spawn(command, ['--config-file', settings, ...args], { stdio: 'inherit', cwd: dataDir })
    child.on('error', reject)
    child.on('exit', (code) => resolve(code ?? 1))
  })
}
