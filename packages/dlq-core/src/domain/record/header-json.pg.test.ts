import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { expect, test } from 'vitest'
import { decodeHeaders, encodeHeaders } from './header-json.ts'
import type { Header } from './record.ts'

const database = useDatabase()

test('headers of any name and bytes are read back from a json column unchanged', async () => {
  const names = ['', '42', '__proto__', 'a\0b', '\ud800', '🚚', '"\\', 'x', 'x']
  const values = [null, Buffer.alloc(0), Buffer.from('größe\n'), Buffer.from([0]), Buffer.from([0xff, 0xfe])]
  const headers = names.flatMap((name) => values.map((value): Header => [name, value]))

  const json = encodeHeaders(headers)
  const [row] = await database.sql<[{ headers: string }]>`select ((${json}::text)::json)::text as headers`

  expect(row.headers).toBe(json)
  expect(decodeHeaders(row.headers)).toEqual(headers)
})
