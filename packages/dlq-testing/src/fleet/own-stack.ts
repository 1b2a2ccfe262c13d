// Servers that one test file owns and may kill. The database has our schemas.
import { join } from 'node:path'
import { migrateUp } from 'dlq-db/migrate.ts'
import postgres from 'postgres'
import { createReaper, type Reaper } from '../process/reaper.ts'
import { type Stack, type StackOptions, startStack } from '../stack.ts'
import { layCluster } from './kept-cluster.ts'

export type OwnStack = {
  stack: Stack
  sql: postgres.Sql
  /** For other processes that the file starts. */
  reaper: Reaper
}

/** Everything it opens is adopted by `opened`, and so disposed of with it. */
export async function openOwnStack(
  opened: AsyncDisposableStack,
  options: Omit<StackOptions, 'reaper'>,
): Promise<OwnStack> {
  const reaper = opened.adopt(createReaper(), (reaper) => reaper.close())
  if (!options.databaseUrl) await layCluster(join(options.dataDir, 'postgres'))
  const stack = opened.adopt(await startStack({ ...options, reaper }), (stack) => stack.stop({ discard: true }))
  await migrateUp({ databaseUrl: stack.databaseUrl })
  const sql = opened.adopt(postgres(stack.databaseUrl, { max: 2, onnotice: () => {} }), (sql) =>
    sql.end({ timeout: 5 }),
  )
  return { stack, sql, reaper }
}
