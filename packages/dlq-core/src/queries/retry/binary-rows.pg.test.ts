// Rows in binary: the patch 0011 of postgres, and what we read of them.
import { connectAsService } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { binaryRows } from './binary-rows.ts'

const database = useDatabase()

describe.each([
  ['prepared', {}],
  ['not prepared, as behind a pooler', { DLQ_DATABASE_PREPARE: 'false' }],
])('statements that are %s', (_, env) => {
  test('give the values that they would give as text', async () => {
    await using sql = ended(connectAsService(database.url, env))
    const values = fc.record({
      repeated: fc.option(fc.constantFrom('', 'orders', 'orderz', 'order', 'größe')),
      bytes: fc.option(fc.uint8Array({ maxLength: 3000 }).map((bytes) => Buffer.from(bytes))),
      // PostgreSQL's text holds no NUL.
      text: fc.option(fc.string({ unit: 'binary' }).map((text) => text.toWellFormed().replaceAll('\0', ''))),
      integer: fc.option(fc.integer()),
      bigint: fc.option(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
      // JSON has neither infinity nor -0.
      number: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0)),
      boolean: fc.option(fc.boolean()),
      time: fc.option(
        fc.date({
          noInvalidDate: true,
          min: new Date('0001-01-01T00:00:00Z'),
          max: new Date('9999-12-31T23:59:59.999Z'),
        }),
      ),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(values, { minLength: 1, maxLength: 5 }), async (rows) => {
        const json = JSON.stringify(rows.map((row) => ({ ...row, ...asTexts(row) })))
        const statement = sql`
          select repeated, bytes, repeated, text, integer, "bigint", number, "boolean", time
          from json_to_recordset(${json}::text::json) as given (
            repeated text, bytes bytea, text text, integer int, "bigint" bigint, number float8, "boolean" boolean, time timestamptz)`
        const read = await binaryRows(statement, (row) => ({
          repeated: row.repeated(),
          bytes: row.bytes(),
          again: row.repeated(),
          text: row.text(),
          integer: row.integer(),
          bigint: row.bigint(),
          number: row.number(),
          boolean: row.boolean(),
          time: row.time(),
        }))
        expect([...read]).toEqual(rows.map((row) => ({ ...row, again: row.repeated })))
      }),
      { numRuns: 50 },
    )
  })

  test('a row that cannot be read fails its query, and no other', async () => {
    await using sql = ended(connectAsService(database.url, env))
    const failing = binaryRows(sql`select n from generate_series(1, ${3}::int) n`, () => {
      throw new Error('not what was expected')
    })
    await expect(failing).rejects.toThrow('not what was expected')
    expect([...(await sql`select 1 as one`)]).toEqual([{ one: 1 }])
    expect([...(await binaryRows(sql`select ${2}::int`, (row) => row.integer()))]).toEqual([2])
  })
})

test('times that others cannot show are the first or the last that they can', async () => {
  await using sql = ended(connectAsService(database.url))
  const times = ['infinity', '-infinity', '0044-03-15 BC', '10000-01-01', '1999-12-31 23:59:59.999999+00']
  const [fromText] = await sql`select ${sql.array(times)}::timestamptz[] as times`
  const fromBinary = await binaryRows(sql`select unnest(${sql.array(times)}::timestamptz[])`, (row) => row.time())
  expect([...fromBinary]).toEqual(fromText!.times)
})

/** In values of JSON that PostgreSQL reads back exactly. */
function asTexts({ bytes, bigint }: { bytes: Buffer | null; bigint: bigint | null }) {
  return { bytes: bytes && `\\x${bytes.toString('hex')}`, bigint: bigint?.toString() ?? null }
}

function ended<T extends { end(): Promise<void> }>(sql: T): T & AsyncDisposable {
  return Object.assign(sql, { [Symbol.asyncDispose]: () => sql.end() })
}
