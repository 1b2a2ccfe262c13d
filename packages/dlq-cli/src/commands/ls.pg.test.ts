// Lists that are longer than an answer of the API, and what strangers wrote into dead letters, on a terminal.
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { expect, test } from 'vitest'
import { useInProcess } from '../testing/test-in-process.ts'

const database = useDatabase()
const cli = useInProcess(useServiceDatabase(database))

test('a list goes on where one answer ends, as far as it was asked for', async () => {
  await database.sql`
    insert into dlq.dlq_messages (original_topic, error_message) select 'many', 'x' from generate_series(1, 1003)`
  const json = async (line: string) => JSON.parse((await cli.run([...line.split(' '), '--json'])).stdout)
  const { messages, pagination } = await json('ls --topic many --limit 1002')
  expect(new Set(messages.map(({ id }: { id: string }) => id)).size).toBe(1002)
  expect(pagination).toMatchObject({ limit: 1002, total: { value: 1003 }, next_cursor: expect.any(String) })
  expect((await json('ls --topic many --limit 5000')).pagination.next_cursor).toBeNull()

  const [run] = await database.sql`
    insert into dlq.dlq_runs (kind, status, ended_at, actor, selection, until_id, matched, matched_relation)
    select 'retry', 'completed', now(), 'maria', '{"filter":{}}', gen_random_uuid(), 1003, 'eq' from generate_series(1, 1003)
    returning id`
  await database.sql`
    insert into dlq.dlq_attempts (message_id, number, attempt_id, outcome, run_id)
    select id, 1, id, 'published', ${run!.id} from dlq.dlq_messages where original_topic = 'many'`
  expect((await json('runs --limit 1002')).runs).toHaveLength(1002)
  expect((await json(`runs items ${run!.id} --limit 1002`)).items).toHaveLength(1002)
})

test.each(['csv', 'ndjson'])('an export as %s steers no terminal, and is whole in a file', async (format) => {
  await insertMessageRow(database.sql, { original_topic: 'orders', error_message: 'a\u001b]52;c;aGk=\u0007b\u202eç' })
  const stdout = async (person = {}) => (await cli.run(['ls', '--export', format], person)).stdout
  const shown = await stdout({ columns: 80 })
  for (const steering of ['\u001b', '\u0007', '\u202e']) expect(shown).not.toContain(steering)
  expect(shown).toContain('b\\u202eç')
  if (format === 'csv') expect(await stdout()).toContain('\u001b]52')
})
