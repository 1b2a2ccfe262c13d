// One run, as far as the sender of the request may see it.

import { getRun, type RunView } from 'dlq-core/queries/runs/runs.ts'
import type { TopicScope } from 'dlq-core/queries/topic-scope.ts'
import type { Database, Transaction } from 'dlq-core/runtime/database/database.ts'
import { ApiError } from '../http/api-error.ts'

/** @throws {ApiError} 404 where there is no such run, or the scope hides it */
export async function findRun(
  sql: Transaction | Database,
  { id, scope }: { id: string; scope: TopicScope },
): Promise<RunView> {
  const run = await getRun(sql, { id, scope })
  if (run === null) throw new ApiError('SYS_DLQ_NOT_FOUND', `run not found: ${id}`)
  return run
}
