// What a server, a database or a role has set otherwise changes no value.
import { connectAsService } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { afterEach, expect, test } from 'vitest'

const database = useDatabase()
const name = () => database.sql(new URL(database.url).pathname.slice(1))

afterEach(async () => {
  await database.sql`alter database ${name()} reset all`
})

const bytes = Buffer.from([0x00, 0x5c, 0x78, 0x31, 0xff])
const id = '0198c1e0-0000-7000-8000-000000000001'
const times = ['0100-01-01T00:00:00.000Z', '1850-06-07T08:09:10.000Z', '9999-12-31T23:59:59.999Z']

test.each([
  `bytea_output = 'escape'`,
  `datestyle = 'German'`,
  `timezone = 'Europe/Berlin'`,
  `timezone = 'Asia/Kolkata'`,
  'standard_conforming_strings = off',
  'array_nulls = off',
  `default_transaction_isolation = 'serializable'`,
])('with %s values come back as they were', async (setting) => {
  await database.sql`alter database ${name()} set ${database.sql.unsafe(setting)}`
  const sql = connectAsService(database.url)
  try {
    const [row] = await sql<[{ bytes: Buffer; times: Date[]; text: string; isolation: string; is_null: boolean }]>`
      select ${bytes}::bytea as bytes, ${sql.array(times)}::timestamptz[] as times, '\\x' as text,
             current_setting('transaction_isolation') as isolation, (${sql.array([id, null])}::text[])[2] is null as is_null`
    expect({ ...row, times: row.times.map((time) => time.toISOString()) }).toEqual({
      ...{ bytes, times, text: '\\x', isolation: 'read committed', is_null: true },
    })
  } finally {
    await sql.end()
  }
})

test('a pooler’s role that writes bytes otherwise is refused, and no other bytes are read', async () => {
  await database.sql`alter database ${name()} set bytea_output = 'escape'`
  const sql = connectAsService(database.url, { DLQ_DATABASE_PREPARE: 'false' })
  try {
    await expect(sql`select ${bytes}::bytea as bytes`).rejects.toThrow(/bytea_output = hex/)
    expect([...(await sql`select 1 as one`)]).toEqual([{ one: 1 }])
  } finally {
    await sql.end()
  }
})

test('a time of the first years is read as it is', async () => {
  const sql = connectAsService(database.url)
  const times = ['0001-01-01T00:00:00.000Z', '0049-06-01T12:00:00.123Z', '0099-12-31T23:59:59.999Z']
  try {
    const [row] = await sql<[{ times: Date[] }]>`
      select array['0001-01-01', '0049-06-01 12:00:00.123456', '0099-12-31 23:59:59.999']::timestamptz[] as times`
    expect(row.times.map((time) => time.toISOString())).toEqual(times)
    const [back] = await sql<
      [{ times: Date[] }]
    >`select array[${row.times[0]!}::timestamptz, ${row.times[2]!}] as times`
    expect(back.times).toEqual([row.times[0], row.times[2]])
  } finally {
    await sql.end()
  }
})

test('a time that no date holds is the first one, or the last one', async () => {
  const sql = connectAsService(database.url)
  try {
    const [row] = await sql<[{ times: Date[]; last: Date }]>`
      select array['-infinity', '0044-03-15 BC', '250000-01-01', '290000-01-01', 'infinity']::timestamptz[] as times,
             'infinity'::timestamptz as last`
    expect(row.times.map((time) => time.toISOString())).toEqual([
      '0001-01-01T00:00:00.000Z',
      '0001-01-01T00:00:00.000Z',
      '+250000-01-01T00:00:00.000Z',
      '9999-12-31T23:59:59.999Z',
      '9999-12-31T23:59:59.999Z',
    ])
    expect(row.last).toEqual(row.times.at(-1))
  } finally {
    await sql.end()
  }
})
