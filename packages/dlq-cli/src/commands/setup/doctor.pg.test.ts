// What `dlq doctor` says to whom.
import { createHash } from 'node:crypto'
import { noteIngester } from 'dlq-core/queries/ingest/ingesters.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { expect, test } from 'vitest'
import { useInProcess } from '../../testing/test-in-process.ts'

const token = 'limited-token'
const sha256 = createHash('sha256').update(token).digest('hex')
const database = useDatabase()
const service = useServiceDatabase(database)
const everything = useInProcess(service)
const auth = { tokens: [{ name: 'limited', sha256, role: 'sys_operator' as const, topics: ['orders'] }] }
const cli = useInProcess(service, { auth, token })
const nobody = useInProcess(service, { auth })
const readOnly = useInProcess(
  useServiceDatabase({
    get sql() {
      return database.sql
    },
    get url() {
      return `${database.url}?default_transaction_read_only=on`
    },
  }),
)

test('a database that takes no changes is a fault, and the status says so', async () => {
  const { code, stdout } = await readOnly.run(['doctor'])
  expect([code, stdout]).toEqual([1, expect.stringMatching(/^fault +database +the database takes no changes/m)])
  expect((await readOnly.run(['status'])).stdout).toMatch(/^READ-ONLY: /m)
  expect((await everything.run(['status'])).stdout).not.toContain('READ-ONLY')
})

test('who has no token is told where it comes from', async () => {
  expect(await nobody.run(['doctor'])).toMatchObject({
    code: 77,
    stderr: expect.stringMatching(
      /^dlq: a bearer token is required; it comes from `dlq login`, or from DLQ_TOKEN beside DLQ_API \(req_\w+\)\n$/,
    ),
  })
})

test('a doctor with a token for some topics does not say that there are no DLQ topics', async () => {
  const { checks } = JSON.parse((await cli.run(['doctor', '--json'])).stdout)
  expect(checks).toContainEqual({ check: 'ingestion', level: 'ok', text: 'no DLQ topic is shown to this token' })
})

test('records that wait are no loss; an ingester that cannot read is a fault, and so is none at all', async () => {
  await database.sql`
    insert into dlq.dlq_topics (cluster, topic, partitions, retention_ms, cleanup_policy, looked_at)
    select 'a', topic, 1, -1, 'delete', now() from unnest(array['slow', 'lossy']) topic`
  await database.sql`
    insert into dlq.dlq_topic_partitions (cluster, topic, partition, log_start_offset, log_end_offset, unread_offset, unread_timestamp)
    values ('a', 'slow', 0, 0, 900, 0, now()), ('a', 'lossy', 0, 5, 5, null, null)`
  await database.sql`
    insert into dlq.dlq_positions (cluster, topic, partition, next_offset) values ('a', 'slow', 0, 0), ('a', 'lossy', 0, 2)`
  const said = async (check: string) =>
    (
      JSON.parse((await everything.run(['doctor', '--json'])).stdout).checks as { check: string; text: string }[]
    ).filter((line) => line.check === check)
  expect(await said('loss')).toEqual([
    { check: 'loss', level: 'fault', text: 'lossy: 3 were deleted by Kafka before they were stored' },
  ])
  expect(await said('ingesters')).toEqual([
    { check: 'ingesters', level: 'fault', text: 'none is alive, so nothing is stored: start one' },
  ])
  expect((await everything.run(['status'])).stdout).toContain('NO INGESTER is alive: nothing is stored')

  const assignment = [{ topic: 'slow', partitions: [0] }]
  await noteIngester(service.sql, { id: 'one', cluster: 'a', assignment, fault: null })
  await noteIngester(service.sql, { id: 'two', cluster: 'a', assignment: [], fault: 'cannot read: no broker' })
  expect(await said('ingesters')).toEqual([
    { check: 'ingesters', level: 'ok', text: 'one reads 1 partition' },
    { check: 'ingesters', level: 'fault', text: 'two: cannot read: no broker' },
  ])
  const { stdout } = await everything.run(['status'])
  expect(stdout).toContain('UNREAD slow: 900 not stored yet')
  expect(stdout).toMatch(/ingester two: reads 0 partitions, seen \d+ s ago, FAULT cannot read: no broker/)
})

test('who or what has paused a topic is a warning', async () => {
  for (const what of [[], ['--ingestion']])
    await everything.run(['pause', 'slow', ...what, '--for', '1h', '--reason', 'OPS-1'])
  await database.sql`insert into dlq.dlq_policies (pattern, paused) values ('*', true)`
  const { stdout } = await everything.run(['doctor'])
  expect(stdout).toMatch(/^warning +paused +slow, by anonymous, until \S+: OPS-1$/m)
  expect(stdout).toMatch(/^warning +paused +slow \(ingestion\), by anonymous, until \S+: OPS-1$/m)
  expect(stdout).toMatch(/^warning +paused +lossy and 1 other topic, by the policy \*$/m)
})
