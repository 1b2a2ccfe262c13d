// database.read_url: the replica answers lists, the primary everything else. Here the two have different rows, so that
// the tests see which one has answered.

import { randomUUID } from 'node:crypto'
import { loadConfig } from 'dlq-core/runtime/config/config.ts'
import { followLogin } from 'dlq-core/runtime/database/database-login.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { freePort } from 'dlq-testing/process/free-port.ts'
import { insertDueRows } from 'dlq-testing/rows/due-rows.ts'
import { beforeAll, expect, test } from 'vitest'
import { createTestApp } from '../test-app.ts'
import { connectReplica, followReadLogin } from './connect-replica.ts'

const database = useDatabase()
const copy = useDatabase()
const service = useServiceDatabase(database)
const log = createLog({ service: 'api', level: 'silent' })

beforeAll(async () => {
  await insertDueRows(database.sql, { count: 3, topics: ['orders'] })
  await insertDueRows(copy.sql, { count: 2, topics: ['orders'] })
  // A standby is read only.
  await copy.sql`alter database ${copy.sql(new URL(copy.url).pathname.slice(1))} set default_transaction_read_only = on`
})

async function withReplica<T>(
  read_url: string,
  work: (app: ReturnType<typeof createTestApp>) => Promise<T>,
  more: Record<string, string> = {},
): Promise<T> {
  const env = { DATABASE_URL: database.url, DLQ_DATABASE_READ_URL: read_url, ...more }
  const { config } = loadConfig({ env, yaml: null, needs: ['database'] })
  const login = followLogin(config.database, { reread: () => null, prove: async () => {}, log })
  const readLogin = followReadLogin(config.database, { latest: () => config.database, log })
  const replica = connectReplica(config.database, {
    log,
    login,
    readLogin,
    statement_timeout: 5000,
    request_timeout: 5000,
  })!
  try {
    return await work(createTestApp(service.sql, { replica }))
  } finally {
    await replica.end({ timeout: 5 })
  }
}

const lists = ['/api/v1/dlq/orders', '/api/v1/messages?limit=10', '/api/v1/messages/export']
const lengthOf = async (response: Response) => {
  expect(response.status).toBe(200)
  const text = await response.text()
  return text.match(/"original_topic":/g)?.length
}

test.each(lists)('GET %s asks the replica', async (path) => {
  await withReplica(copy.url, async (app) => expect(await lengthOf(await app(`GET ${path}`))).toBe(2))
})

test('a replica whose URL has no user is queried with the login of the primary', async () => {
  const url = new URL(copy.url)
  url.username = ''
  await withReplica(url.href, async (app) => expect(await lengthOf(await app(`GET ${lists[0]}`))).toBe(2))
})

test('a replica is queried with its own login, which may only read', async () => {
  const reader = `reader_${randomUUID().slice(0, 8)}`
  await database.sql.unsafe(`create role ${reader} login password 'secret' in role dlq_reader`)
  try {
    const own = { DLQ_DATABASE_READ_USER: reader, DLQ_DATABASE_READ_PASSWORD: 'secret' }
    const url = new URL(copy.url)
    url.username = ''
    url.password = ''
    await withReplica(
      url.href,
      async (app) => {
        expect(await lengthOf(await app(`GET ${lists[0]}`))).toBe(2)
        const [session] = await copy.sql`select count(*)::int from pg_stat_activity where usename = ${reader}`
        expect(session!.count).toBeGreaterThan(0)
      },
      own,
    )
  } finally {
    await database.sql.unsafe(`drop role ${reader}`)
  }
})

test('a single message and every change use the primary', async () => {
  const [row] = await database.sql<{ id: string }[]>`
    select id from dlq.dlq_messages order by original_offset desc limit 1`
  await withReplica(copy.url, async (app) => {
    expect((await app(`GET /api/v1/dlq/messages/${row!.id}`)).status).toBe(200)
    expect((await app(`DELETE /api/v1/dlq/messages/${row!.id}`)).status).toBe(200)
  })
  await insertDueRows(database.sql, { count: 1, from: 5, topics: ['orders'] })
})

test('where the replica is away, or its database is missing, the primary answers', async () => {
  const url = new URL(copy.url)
  url.port = String(await freePort())
  await withReplica(url.href, async (app) => expect(await lengthOf(await app(`GET ${lists[0]}`))).toBe(3))
  url.href = copy.url
  url.pathname = 'nowhere'
  await withReplica(url.href, async (app) => expect(await lengthOf(await app(`GET ${lists[0]}`))).toBe(3))
})
