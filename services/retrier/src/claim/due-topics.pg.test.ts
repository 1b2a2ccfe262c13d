// How long topics are taken to be due, and when they are looked at.
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, expect, test } from 'vitest'
import { createDueTopics } from './due-topics.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

let time = 0
beforeEach(() => {
  time = 0
  return emptyTables(database.sql, 'dlq.dlq_messages')
})

const insertDue = (original_topic: string) =>
  insertMessageRow(database.sql, { original_topic, next_retry_at: new Date(0) })
const resolveAll = () => database.sql`update dlq.dlq_messages set status = 'RESOLVED', next_retry_at = null`

function watch() {
  const dueTopics = createDueTopics(service.sql, { now: () => time })
  return { ...dueTopics, names: async () => (await dueTopics.current()).map((topic) => topic.original_topic) }
}

test('are remembered for a moment, unless told otherwise', async () => {
  const { names, forget } = watch()
  await insertDue('a')
  expect(await names()).toEqual(['a'])
  await insertDue('b')
  time += 100
  expect(await names()).toEqual(['a'])
  forget()
  expect(await names()).toEqual(['a', 'b'])
  await insertDue('c')
  time += 200
  expect(await names()).toEqual(['a', 'b', 'c'])
})

test('a topic that gave a claim all that it asked for is due without a look, beside those that a look finds', async () => {
  const { names, learn } = watch()
  await insertDue('b')
  await insertDue('d')
  expect(await names()).toEqual(['b', 'd'])
  learn(
    new Map([
      ['b', true],
      ['d', true],
    ]),
  )
  await resolveAll()
  for (const topic of ['a', 'c', 'e']) await insertDue(topic)
  time += 200
  expect(await names()).toEqual(['a', 'b', 'c', 'd', 'e'])
  learn(new Map([['b', false]]))
  time += 200
  expect(await names()).toEqual(['a', 'c', 'd', 'e'])
})

test('all topics are looked at every two seconds', async () => {
  const { names, learn } = watch()
  await insertDue('a')
  expect(await names()).toEqual(['a'])
  learn(new Map([['a', true]]))
  await resolveAll()
  time += 1900
  expect(await names()).toEqual(['a'])
  time += 200
  expect(await names()).toEqual([])
})
