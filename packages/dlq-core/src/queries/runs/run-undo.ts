// dlq_run_undo: what messages were before a run changed their state. A cancelled run gives back so what it took by force,
// and another run may undo what a run of kind dead or archive did.

import { smallestId } from '../../domain/record/message-id.ts'
import { idsAsFew, type Sql } from '../sql.ts'

/** Notes the states of locked messages before a run changes them. */
export async function noteForUndo(sql: Sql, { runId, ids }: { runId: string; ids: readonly string[] }): Promise<void> {
  if (ids.length === 0) return
  await sql`
    insert into dlq.dlq_run_undo (run_id, message_id, status, max_retries)
    select ${runId}, id, status, max_retries from dlq.dlq_messages where id = any(${idsAsFew(sql, ids)})
    on conflict (run_id, message_id) do nothing`
}

/** Forgets up to `limit` of the states that a run has noted. Returns how many. */
export async function forgetUndo(sql: Sql, { runId, limit }: { runId: string; limit: number }): Promise<number> {
  const result = await sql`
    delete from dlq.dlq_run_undo where run_id = ${runId} and message_id in (
      select message_id from dlq.dlq_run_undo where run_id = ${runId} order by message_id limit ${limit})`
  return result.count
}

/** The ids of messages whose state a run changed, behind `after`. */
export async function listChanged(
  sql: Sql,
  { runId, after, limit }: { runId: string; after: string | null; limit: number },
): Promise<string[]> {
  const rows = await sql<{ message_id: string }[]>`
    select message_id from dlq.dlq_run_undo
    where run_id = ${runId} and message_id > ${after ?? smallestId}
    order by message_id limit ${limit}`
  return rows.map(({ message_id }) => message_id)
}

/** The caller must have checked that the run exists and is visible. */
export async function countChanged(sql: Sql, runId: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from dlq.dlq_run_undo where run_id = ${runId}`
  return row!.count
}
