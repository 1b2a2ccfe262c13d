import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { expect, test } from 'vitest'
import { migrateUp } from './migrate.ts'

const database = useDatabase({ empty: true })

test.each(['LATIN1', 'SQL_ASCII'])(
  'a database whose encoding is %s is refused before anything is made in it',
  async (encoding) => {
    const url = new URL(database.url)
    const name = `${url.pathname.slice(1)}_${encoding.toLowerCase()}`
    url.pathname = name
    const { sql } = database
    await sql.unsafe(
      `create database ${name} encoding '${encoding}' locale_provider libc locale 'C' template template0`,
    )
    try {
      await expect(migrateUp({ databaseUrl: url.href })).rejects.toThrow(`the encoding of this database is ${encoding}`)
    } finally {
      await sql.unsafe(`drop database ${name}`)
    }
  },
)
