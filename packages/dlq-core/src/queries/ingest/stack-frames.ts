// dlq_stack_frames: the frames of stack traces, and templates of headers beside them, each set once. Only who stores dead
// letters writes them.

import { type Sql, toJson } from '../sql.ts'

/** Traces that are all different must not fill the table: what a topic brings beyond this stays in its rows. */
const maxFramesPerTopic = 500

/** `headers`: JSON text of a template (framed-headers.ts). */
export type WantedFrames = { id: string; frames: readonly string[]; headers: string; topic: string }

/**
 * Stores the frames, or notes that they are used. Returns the ids of those that rows may refer to: not those of a topic
 * that has brought too many. Two callers at the same time may exceed the bound by what they add.
 */
export async function admitFrames(sql: Sql, wanted: readonly WantedFrames[]): Promise<Set<string>> {
  if (wanted.length === 0) return new Set()
  const rows = await sql<{ id: string }[]>`
    with wanted as materialized (
      select id, array(select json_array_elements_text(frames)) as frames, headers::json as headers, topic
      from json_to_recordset(${toJson(wanted)}::json) as w (id uuid, frames json, headers text, topic text)
    ),
    numbered as (
      select id, frames, headers, topic,
             row_number() over (partition by topic order by id)
               + (select count(*) from dlq.dlq_stack_frames f where f.topic = w.topic) as number
      from wanted w
      where not exists (select from dlq.dlq_stack_frames f where f.id = w.id)
    )
    insert into dlq.dlq_stack_frames as known (id, frames, headers, topic)
    select id, frames, headers, topic from (
      select id, frames, headers, topic from numbered where number <= ${maxFramesPerTopic}
      union all
      -- Those that are there already: only used_at moves.
      select w.id, f.frames, f.headers, f.topic from wanted w join dlq.dlq_stack_frames f on f.id = w.id
    ) admitted
    -- In one order, because all ingesters share these rows.
    order by id
    on conflict (id) do update set used_at = now(), found_at = null
    returning id`
  return new Set(rows.map(({ id }) => id))
}

/** How long after `admitFrames` a row may be stored that refers to the frames. The sweep leaves them for longer. */
export const framesUsedForMs = 3_600_000

/**
 * Whether all of the frames are there, and not about to be swept. In the transaction that stores the rows: a database
 * that was restored meanwhile may have lost them.
 */
export async function haveFrames(sql: Sql, ids: readonly string[]): Promise<boolean> {
  if (ids.length === 0) return true
  const [row] = await sql<{ found: number }[]>`
    select count(*)::int as found from dlq.dlq_stack_frames
    where id = any(${sql.array([...ids])}::uuid[]) and used_at > now() - interval '1 day'`
  return row!.found === ids.length
}

/** Deletes frames that no row uses any more. Reads all messages if there are any to look for. Returns how many. In a transaction. */
export async function sweepFrames(sql: Sql): Promise<number> {
  await sql`set local statement_timeout = 0`
  const [row] = await sql<{ swept: number }[]>`select dlq.sweep_stack_frames() as swept`
  return row!.swept
}
