import { setTimeout as sleep } from 'node:timers/promises'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { expect, test } from 'vitest'

const database = useDatabase()
const service = useServiceDatabase(database)

test('a connection lost inside a transaction fails that transaction, and nothing else', async () => {
  const { sql } = service
  for (let round = 0; round < 40; round += 1) {
    const lost = sql.begin(async (sql) => {
      const [backend] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
      await database.sql`select pg_terminate_backend(${backend!.pid})`
      // Now and then the driver knows before the next query, now and then it does not.
      if (round % 2 === 1) await sleep(5)
      await sql`select 1`
    })
    await expect(lost).rejects.toThrow()
    await expect(sql`select 2 as two`).resolves.toEqual([{ two: 2 }])
    await expect(sql.begin((sql) => sql`select 3 as three`)).resolves.toEqual([{ three: 3 }])
  }
})
