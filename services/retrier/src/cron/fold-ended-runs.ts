// Messages of a run may fail again long after its end. Each such failure is a delta, and the steps that add deltas up are over.

import { smallestId } from 'dlq-core/domain/record/message-id.ts'
import { deleteDeltasOfNoRun, listEndedWithDeltas } from 'dlq-core/queries/runs/ended-runs.ts'
import { holdRun } from 'dlq-core/queries/runs/runs.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'

const runsAtOnce = 100
const deltasAtOnce = 5000

/** Adds to ended runs what became of their messages since, and deletes the deltas of deleted runs. Returns how many runs it added to. */
export async function foldEndedRuns(sql: Database, signal: AbortSignal): Promise<number> {
  let total = 0
  for (let after: string | undefined = smallestId; after !== undefined; ) {
    const ids: string[] = await listEndedWithDeltas(sql, { after, limit: runsAtOnce })
    for (const id of ids) {
      signal.throwIfAborted()
      await sql.begin((sql) => holdRun(sql, id))
    }
    total += ids.length
    after = ids.at(-1)
  }
  while ((await deleteDeltasOfNoRun(sql, { limit: deltasAtOnce })) > 0) signal.throwIfAborted()
  return total
}
