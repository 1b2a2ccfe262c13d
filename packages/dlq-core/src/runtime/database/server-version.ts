// Which versions of PostgreSQL the queries are tested on (DLQ_TEST_POSTGRES).

/** The oldest and the newest. */
const testedVersions = { oldest: 15, newest: 18 } as const

/** Asks for the number that `versionFault` takes. */
export const versionQuery = `select current_setting('server_version_num')::int as version`

export type VersionFault = { level: 'error' | 'warning'; message: string }

/** What is to be said about a server with this `server_version_num`, such as 170010; null where nothing is. */
export function versionFault(version: number): VersionFault | null {
  const { oldest, newest } = testedVersions
  const major = Math.floor(version / 10_000)
  const range = `${oldest} to ${newest}`
  if (major < oldest)
    return {
      level: 'error',
      message: `PostgreSQL ${major} is not supported: some statements would fail. Use one of ${range}, best 17 or later`,
    }
  if (major > newest)
    return { level: 'warning', message: `PostgreSQL ${major} has not been tried; ${range} are tested` }
  return null
}
