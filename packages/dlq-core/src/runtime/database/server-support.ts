// Which servers of PostgreSQL, and which of their databases, the queries work on (DLQ_TEST_POSTGRES chooses what is tested).

/** The oldest and the newest. */
const testedVersions = { oldest: 15, newest: 18 } as const

/** Asks for what `serverFault` takes. */
export const serverQuery = `
  select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding`

/** `version`: such as 170010. `encoding`: of the database. */
export type ServerFacts = { version: number; encoding: string }

export type ServerFault = { level: 'error' | 'warning'; message: string }

/** What is to be said about a server and its database; null where nothing is. */
export function serverFault({ version, encoding }: ServerFacts): ServerFault | null {
  const { oldest, newest } = testedVersions
  const major = Math.floor(version / 10_000)
  const range = `${oldest} to ${newest}`
  if (major < oldest)
    return {
      level: 'error',
      message: `PostgreSQL ${major} is not supported: some statements would fail. Use one of ${range}, best 17 or later`,
    }
  // Others cannot hold every text (LATIN1), or do not know where a character ends (SQL_ASCII).
  if (encoding !== 'UTF8')
    return {
      level: 'error',
      message:
        `the encoding of this database is ${encoding}, which cannot hold every dead letter. ` +
        `Use one that was made with: create database … encoding 'UTF8' template template0`,
    }
  if (major > newest)
    return { level: 'warning', message: `PostgreSQL ${major} has not been tried; ${range} are tested` }
  return null
}
