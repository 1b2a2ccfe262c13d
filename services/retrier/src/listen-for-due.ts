// Wakes the retry loop when somebody asks for a retry. A hint: the loop polls as well.

import type { Database } from 'dlq-core/runtime/database/database.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import { runLoop, type Wake } from 'dlq-core/runtime/run-loop.ts'

/** Listens until the signal aborts. After a lost connection the driver listens again by itself. */
export async function listenForDue({
  sql,
  wake,
  signal,
  log,
}: {
  sql: Database
  wake: Pick<Wake, 'notify'>
  signal: AbortSignal
  log: Log
}): Promise<void> {
  let isListening = false
  await runLoop(
    async () => {
      if (!isListening) await sql.listen('dlq_due', () => wake.notify())
      isListening = true
      return { more: false }
    },
    { name: 'listen', intervalMs: 60_000, signal, log },
  )
}
