// A short connection to the maintenance database, for creating and dropping databases.
import postgres from 'postgres'

/** Runs `work` on one connection and closes it; returns what `work` returns. */
export async function withMaintenance<T>(databaseUrl: string, work: (sql: postgres.Sql) => PromiseLike<T>): Promise<T> {
  const sql = postgres(databaseUrl, {
    max: 1,
    onnotice: () => {},
    connection: { application_name: 'dlq-testing' },
  })
  try {
    return await work(sql)
  } finally {
    await sql.end({ timeout: 5 })
  }
}
