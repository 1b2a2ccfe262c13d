// infra/nagios/check_dlq against a live API, in each state that it can find.

import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { useLogFolder } from 'dlq-testing/fleet/log-folder.ts'
import { type ServiceProcess, startService } from 'dlq-testing/fleet/service-process.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { createReaper } from 'dlq-testing/process/reaper.ts'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'

const database = useDatabase()
const logs = useLogFolder()
const reaper = createReaper()
let api: ServiceProcess

beforeAll(async () => {
  api = await startService({
    ...{ name: 'api', databaseUrl: database.url, kafkaBrokers: [], reaper, logFile: join(logs.path, 'api.log') },
    env: { NODE_NO_WARNINGS: '1' },
  })
  await api.ready()
})
afterAll(async () => {
  await api.stop('SIGTERM', 30_000)
  await reaper.close()
})

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_topic_partitions', 'dlq.dlq_messages', 'dlq.dlq_topics', 'dlq.dlq_retriers')
  await database.sql`insert into dlq.dlq_retriers (id, publishes) values ('r', 'exactly-once')`
})

const program = fileURLToPath(new URL('../../nagios/check_dlq', import.meta.url))

function check(...options: string[]): Promise<{ code: number; output: string }> {
  const args = [program, ...(options.includes('--url') ? [] : ['--url', api.url, '--timeout', '60']), ...options]
  return new Promise((resolve) => {
    execFile(process.execPath, args, (error, output) => resolve({ code: Number(error?.code ?? 0), output }))
  })
}

async function insertDead(count: number, consumer = 'payments'): Promise<void> {
  await database.sql`
    insert into dlq.dlq_messages (original_topic, consumer_group, error_message, status, retry_count)
    select 'orders', ${consumer}, 'failed', 'DEAD', 3 from generate_series(1, ${count}::int)`
}

test('it is OK where no value is over a threshold, and prints the values for graphs', async () => {
  await insertDead(2)
  expect(await check()).toEqual({
    code: 0,
    output:
      'DLQ OK: 2 dead (payments of orders 2), none pending, 0 not ingested, 1 retriers publish | dead=2;100;1000;0 oldest_pending=0s;86400;259200;0 unread=0;;;0 retriers=1;;1:;0\n',
  })
})

test('it warns of DEAD messages over the threshold, and over the critical one is critical', async () => {
  await insertDead(3)
  await insertDead(2, 'mail')
  expect(await check('--dead-warning', '5')).toMatchObject({ code: 0 })
  expect(await check('--dead-warning', '4')).toMatchObject({
    code: 1,
    output: expect.stringMatching(/^DLQ WARNING: 5 dead/),
  })
  expect(await check('--dead-warning', '1', '--dead-critical', '4')).toMatchObject({ code: 2 })
  expect(await check('--dead-warning', '2', '--consumer', 'mail')).toMatchObject({ code: 0 })
  expect(await check('--dead-warning', '2', '--channel', 'orders', '--consumer', 'payments')).toMatchObject({ code: 1 })
})

test('with --help it prints its options, and succeeds', async () => {
  expect(await check('--help')).toMatchObject({ code: 0, output: expect.stringMatching(/^check_dlq --url URL/) })
})

test('it warns of messages that have waited too long', async () => {
  await database.sql`
    insert into dlq.dlq_messages (original_topic, error_message, created_at) values ('orders', 'failed', now() - interval '2 days')`
  expect(await check()).toMatchObject({ code: 1, output: expect.stringContaining('oldest pending 2 d 0 h') })
  expect(await check('--age-critical', '100000')).toMatchObject({ code: 2 })
})

test('it warns when Kafka is about to delete records that are not stored', async () => {
  await database.sql`
    insert into dlq.dlq_topics (cluster, topic, partitions, retention_ms, cleanup_policy, looked_at) values ('a', 'orders.dlq.v1', 1, 36000000, 'delete', now())`
  await database.sql`
    insert into dlq.dlq_topic_partitions (cluster, topic, partition, log_start_offset, log_end_offset, unread_offset, unread_timestamp)
    values ('a', 'orders.dlq.v1', 0, 0, 41200, 0, now() - interval '1 minute')`
  expect(await check()).toMatchObject({
    code: 1,
    output: expect.stringMatching(
      /41200 not ingested, first expires in 9 h 5\d m.* unread=41200;;;0 expires_in=\d+s;86400:;21600:/,
    ),
  })
  expect(await check('--loss-critical', '40000')).toMatchObject({ code: 2 })
})

test('it is critical where no retrier publishes', async () => {
  await database.sql`update dlq.dlq_retriers set fault = 'Kafka is away'`
  expect(await check()).toMatchObject({ code: 2, output: expect.stringContaining('0 retriers publish') })
})

test('it is UNKNOWN where the API does not answer, answers late or with an error, or where its arguments are wrong', async () => {
  const server = createServer((request, response) => {
    if (request.url!.startsWith('/slow')) return
    response.statusCode = Number(request.url!.split('/')[1])
    response.end('{"error":{"message":"no | such thing"}}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  try {
    expect(await check('--url', `${url}/slow`, '--timeout', '0.2')).toMatchObject({
      code: 3,
      output: expect.stringContaining('no answer within 0.2 s'),
    })
    expect(await check('--url', `${url}/slow`, '--timeout', '0.2', '--unreachable', 'critical')).toMatchObject({
      code: 2,
    })
    expect(await check('--url', `${url}/503`)).toMatchObject({ code: 3, output: expect.stringContaining('503') })
    expect(await check('--url', `${url}/401`, '--unreachable', 'critical')).toMatchObject({ code: 3 })
  } finally {
    server.closeAllConnections()
    server.close()
  }
  expect(await check('--url', url)).toMatchObject({
    code: 3,
    output: expect.stringMatching(/^DLQ UNKNOWN: .*ECONNREFUSED/),
  })
  expect(await check('--dead-warning', 'many')).toMatchObject({ code: 3 })
  expect(await check('--deadwarning', '1')).toMatchObject({
    code: 3,
    output: expect.stringContaining('what is --deadwarning?'),
  })
})
