// Shows the state of the fleet until it is stopped.

import { setTimeout as sleep } from 'node:timers/promises'
import { countByTopicAndStatus, type StatusCount } from 'dlq-core/queries/reading/summary.ts'
import { loadConfig } from 'dlq-core/runtime/config/config.ts'
import { connectDatabase } from 'dlq-core/runtime/database/database.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import type { Fleet } from './fleet.ts'
import { countLine, placeLines, summaryLines } from './summary.ts'
import type { Terminal } from './terminal.ts'

const intervalMs = 1000

/** Returns when the signal aborts. A database that is away is shown as such; the view goes on. */
export async function watchFleet({
  fleet,
  terminal,
  demo,
  signal,
}: {
  fleet: Fleet
  terminal: Terminal
  demo: boolean
  signal: AbortSignal
}): Promise<void> {
  const { databaseUrl } = fleet.describe()
  const { config } = loadConfig({ env: { DATABASE_URL: databaseUrl }, yaml: null, needs: ['database'] })
  const log = createLog({ service: 'dev', level: 'silent' })
  const sql = connectDatabase({ ...config.database, max_open_conns: 1 }, { applicationName: 'dlq-dev', log })
  if (!process.stdout.isTTY) terminal.print(['dlq-manager is running.', ...placeLines(fleet.describe())].join('\n'))
  let counts: StatusCount[] = []
  try {
    while (!signal.aborted) {
      counts = await Promise.race([countByTopicAndStatus(sql).catch(() => counts), sleep(intervalMs, counts)])
      terminal.show(summaryLines({ stack: fleet.describe(), counts, events: fleet.events, demo }), countLine(counts))
      await sleep(intervalMs, undefined, { signal }).catch(() => {})
    }
  } finally {
    await sql.end({ timeout: 1 })
  }
}
