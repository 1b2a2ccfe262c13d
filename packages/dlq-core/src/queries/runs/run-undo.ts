// dlq_run_undo: what messages were before a run changed their state. So a run gives back what it took by force or out of the
// archive and did not send, and another run may undo what a run of kind dead or archive did.

import { smallestId } from '../../domain/record/message-id.ts'
import { type Fragment, idsAsFew, type Sql } from '../sql.ts'

/** Notes the states of locked messages before a run changes them. */
export async function noteForUndo(sql: Sql, { runId, ids }: { runId: string; ids: readonly string[] }): Promise<void> {
  if (ids.length === 0) return
  await sql`
    insert into dlq.dlq_run_undo (run_id, message_id, status, max_retries)
    select ${runId}, id, status, max_retries from dlq.dlq_messages where id = any(${idsAsFew(sql, ids)})
    on conflict (run_id, message_id) do nothing`
}

/**
 * On a message m and its row u: nobody has given it another budget or a time since the run took it, so it may be again what
 * it was. `attempt`: the number of the one that the run meant to make.
 */
export function isAsTaken(sql: Sql, attempt: Fragment): Fragment {
  return sql`(m.max_retries = greatest(u.max_retries, ${attempt}) and (u.status <> 'DEAD' or m.next_retry_at is null))`
}

/** Messages that were locked and made PENDING for the run, which does not take them after all, are again what they were. */
export async function takeBack(sql: Sql, { runId, ids }: { runId: string; ids: readonly string[] }): Promise<void> {
  if (ids.length === 0) return
  await sql`
    update dlq.dlq_messages m set status = u.status, max_retries = u.max_retries
    from dlq.dlq_run_undo u
    where u.run_id = ${runId} and u.message_id = m.id and m.id = any(${idsAsFew(sql, ids)}) and m.run_id is null`
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
