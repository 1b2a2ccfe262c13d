// `database.embedded`: a PostgreSQL of the services' own, for development. It comes with the package dlq-testing, which
// only a clone has: a release must not carry a server, so the package is looked up when it is asked for.

import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import type { Config, DatabaseConfig } from '../config/config-schema.ts'
import { DlqError } from '../errors.ts'
import type { Log } from '../log.ts'

const modulePath = 'dlq-testing/embedded/join-embedded.ts'

type Embedded = { url: string; leave(): Promise<void> }
type JoinEmbedded = (options: { dataDir: string; log: (line: string) => void }) => Promise<Embedded>

/**
 * Returns the function that puts the embedded server's address into a configuration; where none was asked for, it returns
 * what it gets. Leaving `stack` leaves the server, too.
 *
 * @throws {DlqError} EMBEDDED_MISSING where the package is not installed
 */
export async function joinEmbeddedDatabase(
  { embedded, embedded_dir: dataDir }: DatabaseConfig,
  { stack, log }: { stack: AsyncDisposableStack; log: Log },
): Promise<(config: Config) => Config> {
  if (!embedded) return (config) => config
  log.warn(
    { dataDir, warning: 'for development only: no backups, and whoever is on this machine can read all of it' },
    'database_embedded',
  )
  const join = await load()
  const server = stack.adopt(
    await join({ dataDir, log: (step) => log.info({ step }, 'database_embedded') }),
    (server) => server.leave(),
  )
  return (config) => ({ ...config, database: { ...config.database, url: server.url } })
}

async function load(): Promise<JoinEmbedded> {
  let file: string
  try {
    // Of the service, not of this package: each service has it for its own tests.
    file = createRequire(process.argv[1]!).resolve(modulePath)
  } catch (cause) {
    throw new DlqError(
      'EMBEDDED_MISSING',
      'database.embedded needs the package dlq-testing, which is only in a clone of the repository; set DATABASE_URL instead',
      { cause },
    )
  }
  const { joinEmbedded } = (await import(pathToFileURL(file).href)) as { joinEmbedded: JoinEmbedded }
  return joinEmbedded
}
