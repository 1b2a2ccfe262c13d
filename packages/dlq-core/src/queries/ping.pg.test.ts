import { connectAsService, useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { expect, test } from 'vitest'
import { pingForChanges, pingMessages } from './ping.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const empty = useServiceDatabase(useDatabase({ empty: true }))

test('a database that takes no changes is not ready for who makes some', async () => {
  await pingForChanges(service.sql)
  const sql = connectAsService(`${database.url}?default_transaction_read_only=on`)
  await expect(pingForChanges(sql)).rejects.toThrow('takes no changes')
  await sql.end({ timeout: 1 })
})

test('a database without our tables is said to want the migrations', async () => {
  await expect(pingForChanges(empty.sql)).rejects.toThrow('has no tables of dlq-manager: run the migrations')
  await pingMessages(service.sql)
  await expect(pingMessages(empty.sql)).rejects.toThrow('has no tables of dlq-manager: run the migrations')
})
