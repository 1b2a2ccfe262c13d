// The API as a process: when it starts, and how it ends.
import { writeFileSync } from 'node:fs'
import http from 'node:http'
import { join } from 'node:path'
import { useLogFolder } from 'dlq-testing/fleet/log-folder.ts'
import { startService } from 'dlq-testing/fleet/service-process.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { createReaper } from 'dlq-testing/process/reaper.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { afterAll, expect, test, vi } from 'vitest'

const database = useDatabase()
const logs = useLogFolder()
const reaper = createReaper()
afterAll(() => reaper.close())

function startApi(env: NodeJS.ProcessEnv = {}) {
  return startService({
    ...{ name: 'api', databaseUrl: database.url, kafkaBrokers: [], reaper, logFile: join(logs.path, 'api.log') },
    env: { NODE_NO_WARNINGS: '1', ...env },
  })
}

test('it does not listen beyond loopback without authentication', async () => {
  const api = await startApi({ DLQ_SERVER_HOST: '0.0.0.0' })
  expect(await api.exited).toMatchObject({ code: 78 })
  expect(api.lastOutput()).toContain('set auth.tokens or auth.jwt')
})

test('it listens beyond loopback with authentication', async () => {
  const config = join(logs.path, 'config.yaml')
  writeFileSync(config, `auth: { tokens: [{ name: ci, sha256: ${'a'.repeat(64)}, role: sys_auditor }] }`)
  const api = await startApi({ DLQ_SERVER_HOST: '0.0.0.0', DLQ_CONFIG: config })
  await api.ready()
  expect((await fetch(`${api.url}/api/v1/audit`)).status).toBe(401)
  await api.stop('SIGTERM', 15_000)
})

test('on SIGTERM it is not ready first, answers its open requests, closes idle connections, and ends', async () => {
  const id = await insertMessageRow(database.sql)
  const api = await startApi({
    DLQ_SERVER_DRAIN_DELAY: '6s',
    DLQ_APP_SHUTDOWN_TIMEOUT: '60s',
    DLQ_RETRY_WAIT: '60s',
    DLQ_SERVER_REQUEST_TIMEOUT: '60s',
  })
  await api.ready()
  const agent = new http.Agent({ keepAlive: true })
  const get = (path: string) =>
    new Promise<number>((resolve, reject) => {
      http
        .get(`${api.url}${path}`, { agent }, (response) =>
          response.resume().on('end', () => resolve(response.statusCode!)),
        )
        .on('error', reject)
    })
  expect(await get('/readyz')).toBe(200)
  const waiting = fetch(`${api.url}/api/v1/dlq/messages/${id}/retry`, { method: 'POST' })
  await vi.waitFor(async () => expect(await database.sql`select from dlq.dlq_attempts`).toHaveLength(1), {
    timeout: 30_000,
  })

  api.child.kill('SIGTERM')
  expect((await waiting).status).toBe(202)
  await vi.waitFor(async () => expect(await get('/readyz')).toBe(503), { timeout: 5500 })
  expect(await get('/api/v1/dlq/orders')).toBe(200)
  expect(await api.exited).toMatchObject({ code: 0 })
  agent.destroy()
})
