import { freePort } from 'dlq-testing/process/free-port.ts'
import { expect, test } from 'vitest'
import { loadConfig } from '../config/config.ts'
import { createLog } from '../log.ts'
import { connectDatabase } from './database.ts'
import { isDatabaseAway } from './database-errors.ts'

/** The options that the driver would connect with. It does not connect before the first query. */
function optionsOf(env: Record<string, string>) {
  const { config } = loadConfig({ env, yaml: null, needs: ['database'] })
  const { options } = connectDatabase(config.database, {
    applicationName: 'test',
    log: createLog({ service: 'test', level: 'silent' }),
  })
  return options
}

test('a database is named by its URL', () => {
  const options = optionsOf({ DATABASE_URL: 'postgres://app:s%40cret@db-1:6432/dlq?sslmode=require' })
  expect(options).toMatchObject({
    host: ['db-1'],
    port: [6432],
    database: 'dlq',
    user: 'app',
    pass: 's@cret',
    ssl: 'require',
  })
})

test('a database is named by its parts', () => {
  const options = optionsOf({
    DLQ_DATABASE_HOST: 'db-1',
    DLQ_DATABASE_NAME: 'dlq',
    DLQ_DATABASE_USER: 'app',
    DLQ_DATABASE_PASSWORD: 'secret',
    DLQ_DATABASE_SSL_MODE: 'verify-full',
  })
  expect(options).toMatchObject({
    host: ['db-1'],
    port: [5432],
    database: 'dlq',
    user: 'app',
    pass: 'secret',
    ssl: { rejectUnauthorized: true },
  })
})

test('a separate password is used with a URL', () => {
  expect(optionsOf({ DATABASE_URL: 'postgres://app@db-1/dlq', DLQ_DATABASE_PASSWORD: 'secret' })).toMatchObject({
    user: 'app',
    pass: 'secret',
  })
})

test('sizes and times are those of the configuration, in seconds where the driver expects seconds', () => {
  const options = optionsOf({
    DATABASE_URL: 'postgres://app@db-1/dlq',
    DLQ_DATABASE_MAX_OPEN_CONNS: '7',
    DLQ_DATABASE_CONN_MAX_LIFETIME: '2m',
    DLQ_DATABASE_STATEMENT_TIMEOUT: '5s',
  })
  expect(options).toMatchObject({
    max: 7,
    max_lifetime: 120,
    connection: { application_name: 'test', statement_timeout: 5000, jit: 'off' },
  })
})

/** What a query fails with. It is asked in a timer, as the driver connects again. */
async function failureOf(url: string): Promise<unknown> {
  const { config } = loadConfig({ env: { DATABASE_URL: url }, yaml: null, needs: [] })
  const log = createLog({ service: 'test', level: 'silent' })
  const sql = connectDatabase(config.database, { applicationName: 'test', log })
  const error = await new Promise((resolve) => setTimeout(() => sql`select 1`.catch(resolve), 1))
  await sql.end({ timeout: 1 })
  return error
}

// Of an address that no route leads to, Linux says so before connect() has returned.
test('a network without a route fails the queries, and not the process', async () => {
  for (let round = 0; round < 2; round += 1) {
    const error = await failureOf('postgres://app@255.255.255.255/dlq')
    expect(error).toMatchObject({ code: 'ENETUNREACH' })
    expect(isDatabaseAway(error)).toBe(true)
  }
})

test('a name of several addresses at which nobody listens is a database that is away', async () => {
  const error = await failureOf(`postgres://app@localhost:${await freePort()}/dlq`)
  expect(error).toMatchObject({ code: 'ECONNREFUSED' })
  expect(isDatabaseAway(error)).toBe(true)
})
