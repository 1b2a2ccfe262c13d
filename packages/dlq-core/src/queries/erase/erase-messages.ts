// Empties messages, and every row that holds something of them. A table that gets a column with text of a dead letter
// gets its line here, and its class in text-columns.ts of the retrier.

import { deriveAttemptId } from '../../domain/record/message-id.ts'
import { deleteMessages } from '../change/delete-messages.ts'
import { settleAttempts } from '../retry/attempts.ts'
import type { Sql } from '../sql.ts'
import { renewItems } from './erase-items.ts'

export type ErasePlaces = Record<string, number>

export type Erased = {
  /** Those that are empty, or gone, now. */
  ids: string[]
  /** Being sent: to be erased when that is settled. */
  waiting: number
  counts: ErasePlaces
}

/** Erases what the ids name. `rows`: deletes the messages. */
export async function eraseMessages(
  sql: Sql,
  { runId, ids, mode }: { runId: string; ids: readonly string[]; mode: 'contents' | 'rows' },
): Promise<Erased> {
  const { live, archived, sent } = await lockAll(sql, ids)
  const leftOut = new Set(sent)
  const done = ids.filter((id) => !leftOut.has(id))
  const counts: ErasePlaces = {}
  if (done.length === 0) return { ids: [], waiting: sent.length, counts }
  await renewItems(sql, { runId, ids: done })
  const of = sql`any(${sql.array([...done])}::uuid[])`
  const count = async (place: string, statement: PromiseLike<{ count: number }>) => {
    counts[place] = (counts[place] ?? 0) + (await statement).count
  }
  await count('dlq_message_edits', sql`delete from dlq.dlq_message_edits where message_id = ${of}`)
  await count('dlq_message_origins', sql`delete from dlq.dlq_message_origins where message_id = ${of}`)
  await count('dlq_idempotency_keys', sql`delete from dlq.dlq_idempotency_keys where message_id = ${of}`)
  for (const table of ['dlq_attempts', 'dlq_attempts_archive'])
    await count(
      table,
      sql`
        update ${sql(`dlq.${table}`)} set error = null, failed_again_message = null, failed_again_class = null
        where message_id = ${of} and coalesce(error, failed_again_message, failed_again_class) is not null`,
    )
  const [audit] = await sql<[{ erased: number }]>`
    select dlq.erase_audit(${runId}, 'message', ${sql.array([...done])}::text[]) as erased`
  counts.dlq_audit = audit.erased
  const [reads] = await sql<[{ erased: number }]>`
    select dlq.erase_reads(${runId}, ${sql.array([...done])}::uuid[], '{}') as erased`
  counts.dlq_reads = reads.erased
  if (mode === 'rows') {
    counts.dlq_messages = await deleteMessages(sql, { ids: live, archived: false })
    counts.dlq_messages_archive = await deleteMessages(sql, { ids: archived, archived: true })
    return { ids: done, waiting: sent.length, counts }
  }
  // In two statements: a trigger puts a stack trace that changes into headers that refer to it (026).
  await sql`update dlq.dlq_messages set error_stacktrace = null where id = ${of} and error_stacktrace is not null`
  const emptied = sql`
    record_key = null, record_value = null, record_headers = null, payload = null, error_message = 'erased',
    error_stacktrace = null, frames_id = null, order_key = null, value_schema = null, decode_state = null,
    unstored_value_bytes = null, erased_at = now(), status = 'DEAD', next_retry_at = null, retry_requested = false,
    run_id = null, edits = 0, origin_state = ${goneAndHeld}`
  await count('dlq_messages', sql`update dlq.dlq_messages set ${emptied} where id = ${of} and erased_at is null`)
  await count(
    'dlq_messages_archive',
    sql`update dlq.dlq_messages_archive set ${emptied} where id = ${of} and erased_at is null`,
  )
  return { ids: done, waiting: sent.length, counts }
}

type EndedAttempt = { id: string; number: number; target_topic: string }

/**
 * Ends the attempts that were under way when a backup was made. Nobody makes them any more, and a retrier would send
 * them again. They count as unknown. A retrier that lives nevertheless loses its slot, and settles nothing of them.
 */
export async function endAttemptsUnderWay(sql: Sql, ids: readonly string[]): Promise<void> {
  const isHeld = sql`id = any(${sql.array([...ids])}::uuid[]) and status = 'RETRYING'`
  const slots = await sql<{ slot: number }[]>`
    select distinct lease_slot as slot from dlq.dlq_messages where ${isHeld} and lease_slot is not null`
  // Slots before messages, as a claim locks them.
  await sql`
    with held as materialized (
      select slot from dlq.dlq_slots where slot = any(${sql.array(slots.map(({ slot }) => String(slot)))}::text[]::int[])
      order by slot for update
    )
    update dlq.dlq_slots s set epoch = s.epoch + 1, owner = null, owner_until = null from held where s.slot = held.slot`
  const ended = await sql<EndedAttempt[]>`
    update dlq.dlq_messages set
      status = 'PENDING', next_retry_at = null, lease_token = null, lease_until = null, lease_slot = null, lease_batch = null
    where ${isHeld}
    returning id, retry_count as number, coalesce(target_topic, original_topic) as target_topic`
  await settleAttempts(sql, {
    attempts: ended.map(({ id, number, target_topic }) => ({
      ...{ message_id: id, number, attempt_id: deriveAttemptId(id, number), outcome: 'unknown', target_topic },
      ...{ target_partition: null, target_offset: null, error: null },
    })),
  })
}

/** Nothing but a forced retry would send it, and that is refused (origin-state.ts). */
const goneAndHeld = 15

/** Locks the messages where they are now; one may be archived or restored at the same time. */
async function lockAll(
  sql: Sql,
  ids: readonly string[],
): Promise<{ live: string[]; archived: string[]; sent: string[] }> {
  const wanted = sql.array([...ids])
  const lockLive = () => sql<{ id: string; status: string }[]>`
    select id, status::text as status from dlq.dlq_messages where id = any(${wanted}::uuid[]) order by id for update`
  await lockLive()
  const archived = await sql<{ id: string }[]>`
    select id from dlq.dlq_messages_archive where id = any(${wanted}::uuid[]) order by id for update`
  // Once more: one that was restored between the two statements.
  const live = await lockLive()
  return {
    live: live.filter(({ status }) => status !== 'RETRYING').map(({ id }) => id),
    archived: archived.map(({ id }) => id),
    sent: live.filter(({ status }) => status === 'RETRYING').map(({ id }) => id),
  }
}
