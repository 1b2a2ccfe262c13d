// Reads NNN_name.up.sql and .down.sql for node-pg-migrate. Its own loader runs each file in a transaction. A file whose
// first line is "-- no-transaction" runs statement by statement without one: "create index concurrently" wants that. So
// each of its statements may be the last one that was run, and running all of them again must come to the same end.

import { readFile } from 'node:fs/promises'
import type { MigrationBuilder } from 'node-pg-migrate'
import { indexEachPartition } from './partitioned-index.ts'

const mark = '-- no-transaction\n'

export const loadMigrations = async (filePaths: string[]) =>
  Promise.all(
    filePaths
      .filter((file) => file.endsWith('.up.sql'))
      .map(async (up) => {
        const down = up.replace(/\.up\.sql$/, '.down.sql')
        if (!filePaths.includes(down)) throw new Error(`${up} has no ${down}`)
        const [upText, downText] = await Promise.all([readFile(up, 'utf8'), readFile(down, 'utf8')])
        const actions = { up: run(upText), down: run(downText), shorthands: {} }
        return { id: up.replace(/\.up\.sql$/, '.sql'), filePaths: [up, down], actions }
      }),
  )

function run(text: string) {
  if (!text.startsWith(mark)) return (pgm: MigrationBuilder) => pgm.sql(text)
  return async (pgm: MigrationBuilder) => {
    pgm.noTransaction()
    for (const statement of text.split(/;\s*\n/).filter((part) => part.trim() !== '')) {
      const isDone = await indexEachPartition((text, values) => pgm.db.select({ text, values }), statement)
      if (!isDone) await pgm.db.query(statement)
    }
  }
}
