// Every way of deleting a message removes its id and its bytes from all tables but the audit.

import { randomUUID } from 'node:crypto'
import { archiveMessages } from 'dlq-core/queries/upkeep/archive.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { dropExpired } from '../../../../retrier/src/cron/drop-expired.ts'
import { useRuns } from '../../runs/test-run-requests.ts'
import { workOnRuns } from '../../runs/test-runs.ts'
import { answerOf } from '../../test-app.ts'

const { database, service, request, begin } = useRuns()

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_idempotency_keys', 'dlq.dlq_group_pauses', 'dlq.dlq_audit')
  // Creates today's partitions again, because some tests drop them.
  await database.sql`select dlq.create_message_partitions(), dlq.create_archive_partitions()`
})

/** A run keeps its selection and its progress. Both hold ids, and no other part of a message. */
const idsOfRuns = ['selection', 'cursor', 'until_id']

/** The tables in which the id or the value of the message is found, and in how many rows. */
async function tracesOf({ id, secret }: Message): Promise<Record<string, number>> {
  const tables = await database.sql<{ name: string }[]>`
    select relname as name from pg_class
    where relnamespace = 'dlq'::regnamespace and relkind in ('r', 'p') and not relispartition order by relname`
  const found: Record<string, number> = {}
  for (const { name } of tables) {
    const leaveOut = name === 'dlq_runs' ? idsOfRuns : []
    const [row] = await database.sql<[{ count: number }]>`
      select count(*)::int as count
      from (select (to_jsonb(t) - ${leaveOut}::text[])::text as row from ${database.sql(`dlq.${name}`)} t) rows
      -- A column of bytes shows as hexadecimal digits.
      where row like any(${[id, secret, Buffer.from(secret).toString('hex')].map((part) => `%${part}%`)}::text[])`
    if (row.count > 0) found[name] = row.count
  }
  return found
}

type Message = { id: string; secret: string }

/** A message with a row in every table that may name one: with a report key, an edit, an attempt, a run and a probe. */
async function makeMessage(topic = 'orders'): Promise<Message> {
  const secret = `card ${randomUUID()}`
  const send = async (methodAndPath: string, body: object, headers: Record<string, string>) => {
    const init = { body: JSON.stringify(body), headers: { 'content-type': 'application/json', ...headers } }
    const answer = await answerOf(request(methodAndPath, init))
    expect([200, 201]).toContain(answer.status)
    return answer.body as { id: string }
  }
  const { id } = await send(
    'POST /api/v1/dlq/messages',
    {
      ...{ original_topic: topic, consumer_group: 'billing', error_message: 'processing failed' },
      value: { json: { secret } },
    },
    { 'idempotency-key': randomUUID() },
  )
  await send(`PATCH /api/v1/dlq/messages/${id}`, { value: { json: { secret, edited: true } } }, { 'if-match': '*' })
  await database.sql`
    insert into dlq.dlq_attempts (message_id, number, attempt_id, outcome) values (${id}, 3, gen_random_uuid(), 'failed')`
  await database.sql`update dlq.dlq_messages set retry_count = 3 where id = ${id}`
  await begin({ selection: { filter: { topic } } })
  await workOnRuns(service.sql)
  await database.sql`
    insert into dlq.dlq_group_pauses (original_topic, group_id, reason, probe_id, probe_attempt, probe_at)
    values (${topic}, gen_random_uuid(), 'a burst', ${id}, 4, now())`
  await database.sql`
    insert into dlq.dlq_group_probes (original_topic, group_id, message_id, attempt) values (${topic}, gen_random_uuid(), ${id}, 4)`
  await database.sql`insert into dlq.dlq_staleness (message_id, original_topic) values (${id}, ${topic})`
  await database.sql`update dlq.dlq_messages set status = 'DEAD' where id = ${id}`
  expect(await tracesOf({ id, secret })).toEqual({ ...history, dlq_messages: 1, dlq_attempts: 1 })
  return { id, secret }
}

const history = {
  dlq_audit: 2,
  dlq_group_pauses: 1,
  dlq_group_probes: 1,
  dlq_idempotency_keys: 1,
  dlq_message_edits: 1,
  dlq_run_skipped: 1,
  dlq_staleness: 1,
}

const inTwoYears = () => new Date(Date.now() + 730 * 86_400_000)
const archive = ({ id }: Message) => archiveMessages(service.sql, { ids: [id], now: new Date() })
const drop = () =>
  dropExpired(
    { sql: service.sql, archiveRetentionMs: 365 * 86_400_000 },
    { now: inTwoYears(), signal: new AbortController().signal },
  )
const remove = async (path: string) => {
  expect(await answerOf(request(`DELETE ${path}`))).toMatchObject({ status: 200 })
}
const runOver = async (kind: string, filter: object) => {
  const id = await begin({ kind, selection: { filter: { topic: 'orders', ...filter } } })
  await workOnRuns(service.sql)
  expect((await answerOf(request(`GET /api/v1/runs/${id}`))).body).toMatchObject({ status: 'completed' })
}

const ways: [name: string, remove: (message: Message) => Promise<unknown>][] = [
  ['the deletion of one message', ({ id }) => remove(`/api/v1/dlq/messages/${id}`)],
  ['a run that deletes', () => runOver('delete', { status: ['DEAD'] })],
  ['the purge of a consumer', () => remove('/channel/orders/consumer/billing/dlq')],
  ['the deletion of one job of a consumer', ({ id }) => remove(`/channel/orders/consumer/billing/job/${id}`)],
  [
    'a run that purges the archive',
    async (message) => {
      await archive(message)
      expect(await tracesOf(message)).toEqual({ ...history, dlq_messages_archive: 1, dlq_attempts_archive: 1 })
      await runOver('purge', { archived: true })
    },
  ],
  [
    'the drop of a quarter of the archive',
    async (message) => {
      await archive(message)
      expect((await drop()).quarters.length).toBeGreaterThan(0)
    },
  ],
]

describe.each(ways)('%s', (_, removeIt) => {
  test('removes all of the message but its audit, and leaves another message complete', async () => {
    const other = await makeMessage('payments')
    const message = await makeMessage()
    await removeIt(message)
    const { dlq_audit, ...left } = await tracesOf(message)
    expect(left).toEqual({})
    expect(dlq_audit).toBeGreaterThanOrEqual(history.dlq_audit)
    expect(await tracesOf(other)).toEqual({ ...history, dlq_messages: 1, dlq_attempts: 1 })
  })
})

test('the drop of a month removes the rest of the messages that were deleted from it', async () => {
  const message = await makeMessage()
  const month = `dlq.dlq_messages_${new Date().toISOString().slice(0, 7).replace('-', '_')}`
  await runOver('delete', { status: ['DEAD'] })
  expect((await drop()).months.map((name) => `dlq.${name}`)).toContain(month)
  const { dlq_audit: _, ...left } = await tracesOf(message)
  expect(left).toEqual({})
})
