// The driver reads the database's array types when it connects (patches/README.md).
import { connectAsService } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { expect, test } from 'vitest'

const database = useDatabase()

test('the first query of a pool may hold arrays', async () => {
  for (let n = 0; n < 20; n += 1) {
    const sql = connectAsService(database.url)
    try {
      const [row] = await sql`select ${sql.array(['a', 'b'])}::text[] as texts, ${sql.array([1, 2])}::int[] as numbers`
      expect({ ...row }).toEqual({ texts: ['a', 'b'], numbers: [1, 2] })
    } finally {
      await sql.end()
    }
  }
})
