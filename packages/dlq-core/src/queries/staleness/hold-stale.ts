// dlq_messages: gives back what a policy holds because it is not known to be fresh. It waits for a person, and leaves its
// run, which counts it among those that it left alone: what the run took by force or out of the archive is as it was before.

import type { Judgement } from '../../domain/staleness/staleness.ts'
import type { BatchLease } from '../retry/batches.ts'
import { mostSkipped } from '../runs/run-items.ts'
import { isAsTaken } from '../runs/run-undo.ts'
import { type Sql, toJson } from '../sql.ts'
import { enterMessages } from './answers.ts'

export type HeldStale = Judgement & { id: string; newer_at: Date | null }

/** As before the claim, but without a date. Returns the ids of those that were held for the batch. */
export async function holdStale(
  sql: Sql,
  { slot, epoch, batch, held }: BatchLease & { held: readonly HeldStale[] },
): Promise<string[]> {
  if (held.length === 0) return []
  const rows = await sql<{ id: string }[]>`
    with owner as materialized (
      select slot from dlq.dlq_slots where slot = ${slot} and epoch = ${epoch} for update
    ),
    given as materialized (
      select * from json_to_recordset(${toJson(held)}::json)
        as g (id uuid, answer text, reason text, newer_offset bigint, newer_at timestamptz)
    ),
    stale as materialized (
      select m.id, m.run_id, u.status as former_status, u.max_retries as former_max_retries,
             m.run_id is null and (not m.retry_requested or exists (
               select from dlq.dlq_group_probes p
               where p.original_topic = m.original_topic and p.group_id = m.group_id and p.message_id = m.id)) as was_due,
             case when given.answer = 'superseded' then 'superseded' else 'staleness_unknown' end as reason
      from dlq.dlq_messages m join given using (id)
      left join dlq.dlq_run_undo u on u.run_id = m.run_id and u.message_id = m.id and ${isAsTaken(sql, sql`m.retry_count`)}
      where m.lease_slot = (select slot from owner) and m.lease_batch = ${batch} and m.status = 'RETRYING'
      order by m.id
      for update of m
    ),
    updated as (
      update dlq.dlq_messages m set
        status = coalesce(stale.former_status, 'PENDING'), max_retries = coalesce(stale.former_max_retries, m.max_retries),
        retry_count = m.retry_count - 1, next_retry_at = null, retry_requested = false, run_id = null,
        updated_at = now(), lease_token = null, lease_until = null, lease_slot = null, lease_batch = null
      from stale where m.id = stale.id
      returning m.id
    ),
    counted as (
      insert into dlq.dlq_run_deltas (run_id, outcome, n)
      select run_id, reason, count(*) from stale where run_id is not null group by 1, 2
    ),
    noted as (
      insert into dlq.dlq_run_skipped (run_id, message_id, reason)
      select stale.run_id, stale.id, stale.reason
      from stale join dlq.dlq_runs r on r.id = stale.run_id
      where (select coalesce(sum(value::bigint), 0) from json_each_text(r.skipped)) < ${mostSkipped}
      on conflict (run_id, message_id) do nothing
    ),
    answered as (
      update dlq.dlq_staleness s set
        answer = given.answer, reason = given.reason, newer_offset = given.newer_offset, newer_at = given.newer_at,
        answered_at = case when s.answer in ('waiting', 'fresh') then now() else s.answered_at end,
        held_at = case when stale.was_due then now() end
      from given join stale using (id)
      where s.message_id = given.id
    )
    select id from updated`
  return rows.map(({ id }) => id)
}

/** Lets the attempt of this number be sent whatever is known of newer records. */
export async function forceStale(sql: Sql, { id, attempt }: { id: string; attempt: number }): Promise<void> {
  await enterMessages(sql, [id])
  await sql`update dlq.dlq_staleness set forced_attempt = ${attempt} where message_id = ${id}`
}

/** Those of the runs that send what is not known to be fresh as well. */
export async function listSendingRuns(sql: Sql, runIds: readonly string[]): Promise<ReadonlySet<string>> {
  if (runIds.length === 0) return new Set()
  const rows = await sql<{ id: string }[]>`
    select id from dlq.dlq_runs where id = any(${sql.array([...runIds])}::uuid[]) and staleness = 'send'`
  return new Set(rows.map(({ id }) => id))
}
