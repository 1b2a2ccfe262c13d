// The connections on which jobs and runs do their work. A statement of theirs may have no limit, such as one that counts all
// messages, so PostgreSQL may be silent for long. On all other connections, silence means that nobody is there any more.

import type { Config } from 'dlq-core/runtime/config/config-schema.ts'
import { type ConnectOptions, connectDatabase, type Database } from 'dlq-core/runtime/database/database.ts'

/** A job works on one connection, or on two for a moment. */
const connectionsEach = 2

/** A pool that opens connections while there are jobs. */
export function connectJobs(
  {
    database,
    worker: { concurrency },
  }: { database: Config['database']; worker: Pick<Config['worker'], 'concurrency'> },
  options: Pick<ConnectOptions, 'log' | 'login'>,
): Database {
  return connectDatabase(
    { ...database, max_open_conns: connectionsEach * concurrency, max_idle_conns: 1 },
    { ...options, applicationName: 'dlq-retrier-jobs', silenceMs: null },
  )
}
