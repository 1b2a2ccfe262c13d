// What strangers wrote into dead letters, on a terminal.
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { expect, test } from 'vitest'
import { useInProcess } from '../testing/test-in-process.ts'

const database = useDatabase()
const cli = useInProcess(useServiceDatabase(database))

test.each(['csv', 'ndjson'])('an export as %s steers no terminal, and is whole in a file', async (format) => {
  await insertMessageRow(database.sql, { original_topic: 'orders', error_message: 'a\u001b]52;c;aGk=\u0007b\u202eç' })
  const stdout = async (person = {}) => (await cli.run(['ls', '--export', format], person)).stdout
  const shown = await stdout({ columns: 80 })
  for (const steering of ['\u001b', '\u0007', '\u202e']) expect(shown).not.toContain(steering)
  expect(shown).toContain('b\\u202eç')
  if (format === 'csv') expect(await stdout()).toContain('\u001b]52')
})
