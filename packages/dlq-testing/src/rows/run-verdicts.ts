// Counts the verdicts of a run in one piece, to be compared with what is counted in parts.
import { addVerdicts, countRunPart, noVerdicts, type VerdictCounts } from 'dlq-core/queries/readers/verdicts.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'

export async function countRunVerdicts(sql: Sql, runId: string): Promise<VerdictCounts> {
  return addVerdicts(noVerdicts, (await countRunPart(sql, { runId, limit: 1_000_000 })).counts)
}
