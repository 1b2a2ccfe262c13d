// The connections on which slots claim and settle: one for each slot, apart from those of everything else. Each connection
// plans a statement for itself, and the claim takes 5 ms to plan over seven partitions. The driver spreads statements over
// all connections, and PostgreSQL plans one five times before it keeps a plan. So with ten connections nearly every claim
// was planned: a fifth of PostgreSQL's work for two retriers.

import type { Config } from 'dlq-core/runtime/config/config-schema.ts'
import { type ConnectOptions, connectDatabase, type Database } from 'dlq-core/runtime/database/database.ts'

/** A pool of as many connections as there are slots, which keep their plans. */
export function connectSlots(
  { database, retry: { slots } }: { database: Config['database']; retry: Pick<Config['retry'], 'slots'> },
  options: Pick<ConnectOptions, 'log' | 'login'>,
): Database {
  return connectDatabase(
    { ...database, max_open_conns: slots, max_idle_conns: slots },
    { ...options, applicationName: 'dlq-retrier', genericPlans: true },
  )
}
