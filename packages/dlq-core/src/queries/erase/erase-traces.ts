// What other rows hold of erased messages: error groups, events, frames, and runs that name a key.

import type { RunTexts } from '../../domain/erase/erase-proof.ts'
import { forgetKeysOfRuns } from '../change/idempotency-keys.ts'
import type { Sql } from '../sql.ts'
import { holdUpStoring } from './erasures.ts'

/** Groups that the run's messages are or were in, and their events, forget their texts; the next failure writes them again. Returns how many. */
export async function eraseGroupTexts(sql: Sql, runId: string): Promise<{ dlq_groups: number; dlq_events: number }> {
  const groups = sql`array(
    select group_id from dlq.dlq_erase_items where run_id = ${runId} and group_id is not null
    union select unnest(group_ids) from dlq.dlq_erase_items where run_id = ${runId})`
  const titled = await sql`
    update dlq.dlq_groups set title = coalesce(error_class, 'erased'), message = 'erased' where id = any(${groups})`
  const events = await sql`
    update dlq.dlq_events set title = type || ' (erased)' where group_id = any(${groups})`
  // What was read of topics as a sample and not fetched yet.
  await sql`delete from dlq.dlq_samples where answer is not null`
  return { dlq_groups: titled.count, dlq_events: events.count }
}

/**
 * Lets no ingester refer to the frames of the run's messages until it has stored them again. In a transaction of its own,
 * before `eraseFrames`: it holds up storing, because somebody may be about to store a message with them.
 */
export async function retireFrames(sql: Sql, runId: string): Promise<void> {
  const frames = await findFrames(sql, runId)
  if (frames.length === 0) return
  await holdUpStoring(sql)
  await sql`
    update dlq.dlq_stack_frames set used_at = now() - interval '2 days'
    where id = any(array(
      -- In the order in which ingesters lock them (admitFrames).
      select id from dlq.dlq_stack_frames where id = any(${sql.array(frames)}::uuid[]) order by id for update))`
}

/**
 * Deletes retired stack frames that no message uses any more. Reads both tables once if the run's messages had any, so it
 * must not hold up storing.
 */
export async function eraseFrames(sql: Sql, runId: string): Promise<number> {
  const frames = await findFrames(sql, runId)
  if (frames.length === 0) return 0
  const ids = sql.array(frames)
  const result = await sql`
    delete from dlq.dlq_stack_frames f
    where f.id = any(${ids}::uuid[]) and f.id <> all(array(
      select frames_id from dlq.dlq_messages where frames_id = any(${ids}::uuid[])
      union select frames_id from dlq.dlq_messages_archive where frames_id = any(${ids}::uuid[])))
      -- Those that were stored again meanwhile may be in use by the time this statement ends.
      and f.used_at < now() - interval '1 day'`
  return result.count
}

async function findFrames(sql: Sql, runId: string): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select distinct frames_id as id from dlq.dlq_erase_items where run_id = ${runId} and frames_id is not null`
  return rows.map(({ id }) => id)
}

/** Records of unmasked reads forget filters and reasons that hold one of the texts. */
export async function eraseReads(
  sql: Sql,
  { runId, texts }: { runId: string; texts: readonly string[] },
): Promise<number> {
  if (texts.length === 0) return 0
  const [row] = await sql<[{ erased: number }]>`
    select dlq.erase_reads(${runId}, '{}', ${sql.array([...texts])}::text[]) as erased`
  return row.erased
}

/**
 * The next runs, for whoever looks whether they name a key. Erasures under way are left out: each needs its selection to
 * its end, and forgets it then.
 */
export async function listRunTexts(sql: Sql, { after, limit }: { after: string; limit: number }): Promise<RunTexts[]> {
  const rows = await sql<RunTexts[]>`
    select id, array_remove(array[selection::text, patch::text], null) as asked,
           array_remove(array[reason, status_reason], null)
             || array(select key from dlq.dlq_idempotency_keys where run_id = r.id) as why
    from dlq.dlq_runs r
    where id > ${after}::uuid and not (kind = 'erase' and ended_at is null) order by id limit ${limit}`
  return [...rows]
}

/**
 * Empties runs that name a key, as `runsNaming` finds them: their reasons, also where events say them, and what `asking`
 * ones ask for. Such a run takes no further message.
 */
export async function eraseRunTexts(
  sql: Sql,
  { runId, ids, asking }: { runId: string; ids: readonly string[]; asking: readonly string[] },
): Promise<void> {
  if (ids.length === 0) return
  const asks = sql`id = any(${sql.array([...asking])}::uuid[])`
  await sql`
    update dlq.dlq_runs set
      selection = case when ${asks} then '{"ids":[]}' else selection end, patch = case when ${asks} then null else patch end,
      reason = null, status_reason = null
    where id = any(${sql.array([...ids])}::uuid[])`
  await sql`
    update dlq.dlq_events set title = type || ' (erased)' where run_id = any(${sql.array([...ids])}::uuid[])`
  await sql`select dlq.erase_audit(${runId}, 'run', ${sql.array([...ids])}::text[])`
  await forgetKeysOfRuns(sql, ids)
}

/**
 * For how long Kafka keeps records of DLQ topics at most, in milliseconds, by topic: the longest of the clusters that have
 * one of this name. Topics that any of them keeps for ever, or for a time that is not known, are missing.
 */
export async function listRetentions(sql: Sql): Promise<Map<string, number>> {
  const rows = await sql<{ topic: string; retention_ms: number }[]>`
    select topic, max(retention_ms)::float8 as retention_ms
    from dlq.dlq_topics
    group by topic
    having bool_and(coalesce(retention_ms >= 0 and cleanup_policy like '%delete%', false))`
  return new Map(rows.map(({ topic, retention_ms }) => [topic, retention_ms]))
}

/** The counts so far, and at the end the proof, as JSON text. */
export async function writeProof(sql: Sql, { id, proof }: { id: string; proof: string }): Promise<void> {
  await sql`update dlq.dlq_runs set proof = ${proof}::text::json where id = ${id}`
}

export type ErasingRun = {
  id: string
  actor: string
  reason: string | null
  selection: string
  erase_mode: 'contents' | 'rows'
  cutoff: string
  proof: string | null
  status: string
  created_at: Date
}

/** A run of kind erase. Null where there is none. */
export async function readErasingRun(sql: Sql, id: string): Promise<ErasingRun | null> {
  const [row] = await sql<ErasingRun[]>`
    select id, actor, reason, selection::text as selection, erase_mode, cutoff::text as cutoff, proof::text as proof, status, created_at
    from dlq.dlq_runs where id = ${id} and kind = 'erase'`
  return row ?? null
}

/** From now on the run covers what was stored until now. */
export async function moveCutoff(sql: Sql, { id, cutoff }: { id: string; cutoff: string }): Promise<void> {
  await sql`
    update dlq.dlq_runs set cutoff = ${cutoff}::text::timestamptz, until_id = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
    where id = ${id}`
}

/** The run forgets what it was asked for; the audit's entry of it does, too. */
export async function forgetSelection(sql: Sql, id: string): Promise<void> {
  await sql`update dlq.dlq_runs set selection = '{"ids":[]}' where id = ${id}`
  await forgetKeysOfRuns(sql, [id])
}

type AgainRun = { run_id: string; mode: 'contents' | 'rows'; actor: string; reason: string | null; cutoff: string }

/** In a database that was restored: the run is there again, or made anew, and erases once more. */
export async function beginAgain(sql: Sql, { run_id: id, mode, actor, reason, cutoff }: AgainRun): Promise<void> {
  await sql`
    insert into dlq.dlq_runs (id, kind, status, actor, reason, selection, cutoff, until_id, matched, matched_relation, erase_mode, started_at)
    values (${id}, 'erase', 'running', ${actor}, ${reason}, '{"ids":[]}', ${cutoff}::text::timestamptz,
            'ffffffff-ffff-ffff-ffff-ffffffffffff', 0, 'eq', ${mode}, now())
    on conflict (id) do update set status = 'running', ended_at = null`
}

export async function endAgain(sql: Sql, { id, proof }: { id: string; proof: string }): Promise<void> {
  await writeProof(sql, { id, proof })
  await forgetSelection(sql, id)
  await sql`update dlq.dlq_runs set status = 'completed', ended_at = now() where id = ${id}`
}
