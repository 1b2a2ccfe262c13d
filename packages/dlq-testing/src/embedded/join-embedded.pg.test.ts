// `database.embedded` (infra/docs/configuration.md): services without a database of their own share a PostgreSQL that the
// first of them starts.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { expect, test } from 'vitest'
import { useLogFolder } from '../fleet/log-folder.ts'
import { isReady, runFrom, type ServiceName, serviceMain } from '../fleet/service-process.ts'
import { freePort } from '../process/free-port.ts'
import { createReaper } from '../process/reaper.ts'
import { startWatchedProcess } from '../process/watched-process.ts'

const logs = useLogFolder()
const clone = join(import.meta.dirname, '../../../..')
const patience = { timeout: 120_000, interval: 100 }
// NODE_PATH would let any folder have the clone's packages.
const { DATABASE_URL: _, KAFKA_BROKERS: __, NODE_PATH: ___, ...env } = process.env
const dataDir = () => join(logs.path, 'embedded')
const postmaster = () => {
  const [pid, , , port] = readFileSync(join(dataDir(), 'postgres', 'postmaster.pid'), 'utf8')
    .split('\n')
    .map(Number)
  return { pid: pid!, port: port! }
}
const isThere = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('services that start at once share one server; the last to end stops it, and its data is there again', async () => {
  const reaper = createReaper()
  const start = async (name: ServiceName) => {
    const port = await freePort()
    const process = await startWatchedProcess({
      ...{ command: runFrom(clone)(name), logFile: join(logs.path, `${name}.log`), reaper },
      env: {
        ...env,
        ...{ DLQ_DATABASE_EMBEDDED: 'true', DLQ_DATABASE_EMBEDDED_DIR: dataDir(), DLQ_SERVER_PORT: String(port) },
        ...{ DLQ_SERVER_DRAIN_DELAY: '0s' },
      },
    })
    const ready = () =>
      expect
        .poll(() => {
          if (process.hasExited()) throw new Error(process.lastOutput())
          return isReady(`http://127.0.0.1:${port}`)
        }, patience)
        .toBe(true)
    return { ...process, ready, stop: () => process.stop('SIGTERM', 30_000), api: `http://127.0.0.1:${port}/api/v1` }
  }
  let server = { pid: 0, port: 0 }
  try {
    const [api, retrier] = await Promise.all([start('api'), start('retrier')])
    await Promise.all([api.ready(), retrier.ready()])
    server = postmaster()
    const sql = postgres(`postgres://postgres@127.0.0.1:${server.port}/postgres`, { max: 1 })
    const users =
      await sql`select distinct application_name as name from pg_stat_activity where application_name ~ '^dlq-'`
    expect(users.map(({ name }) => name).toSorted()).toEqual(expect.arrayContaining(['dlq-api', 'dlq-retrier']))
    await sql.end()
    const report = await fetch(`${api.api}/dlq/messages`, {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
      body: JSON.stringify({ original_topic: 'orders', error_message: 'kept', value: { text: 'v' } }),
    })
    expect(report.status).toBe(201)
    expect(readFileSync(join(logs.path, 'api.log'), 'utf8')).toMatch(/"level":"warn".*"event":"database_embedded"/)

    await retrier.stop()
    expect(isThere(server.pid)).toBe(true)
    // One that was killed counts for nothing.
    writeFileSync(join(dataDir(), 'users', '2147483646'), '')
    await api.stop()
    await expect.poll(() => isThere(server.pid), patience).toBe(false)

    const again = await start('api')
    await again.ready()
    server = postmaster()
    const list = (await (await fetch(`${again.api}/messages`)).json()) as { messages: { error_message: string }[] }
    expect(list.messages).toMatchObject([{ error_message: 'kept' }])
    await again.stop()
    await expect.poll(() => isThere(server.pid), patience).toBe(false)
  } finally {
    await reaper.close()
    if (server.pid > 0 && isThere(server.pid)) process.kill(server.pid, 'SIGINT')
  }
})

test('a service whose packages have no server says so, and what to set instead', async () => {
  // The services' own module, begun from a folder without packages, as in the image.
  const main = join(logs.path, 'main.ts')
  writeFileSync(main, `await import(${JSON.stringify(serviceMain('retrier', clone))})\n`)
  const reaper = createReaper()
  try {
    const child = await startWatchedProcess({
      ...{
        command: [process.execPath, '--max-semi-space-size=4', main],
        logFile: join(logs.path, 'alone.log'),
        reaper,
      },
      env: { ...env, DLQ_DATABASE_EMBEDDED: 'true', DLQ_DATABASE_EMBEDDED_DIR: dataDir() },
    })
    await expect.poll(child.hasExited, patience).toBe(true)
    expect(child.lastOutput()).toContain('database.embedded needs the package dlq-testing')
    expect(child.child.exitCode).toBe(1)
  } finally {
    await reaper.close()
  }
})
