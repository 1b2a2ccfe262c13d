// How many attempts a rise of a group's offsets concerns: along idx_dlq_attempts_target, a piece at a time. Nothing is
// written. And those that came back, by their own index.

import { type Sql, toJson } from '../sql.ts'
import type { Reader } from './reader-watch.ts'

/** The offsets from `from` to before `to` got this verdict. */
export type Rise = Reader & {
  verdict: 'passed' | 'consumed' | 'skipped' | 'expired'
  partition: number
  from: bigint
  to: bigint
  /** The group is seen for the first time: only attempts of the last hour are news. */
  isFirst: boolean
}

/** `next`: the offset to go on from; null where the rise was counted to its end. */
export type CountedRise = { verdict: Rise['verdict']; count: number; next: bigint | null }

/**
 * Counts the attempts of each rise whose own group it is, `limit` of the published ones at most. Those whose group is
 * not known on the topic belong to the first of its groups, by name, so that they are counted once.
 */
export async function countRises(
  sql: Sql,
  { rises, limit }: { rises: readonly Rise[]; limit: number },
): Promise<CountedRise[]> {
  if (rises.length === 0) return []
  const rows = rises.map(({ from, to, ...rise }, number) => ({ ...rise, number, from: String(from), to: String(to) }))
  return sql<CountedRise[]>`
    select rise.verdict, found.count,
           -- A whole piece: there may be more behind it.
           case when found.examined = ${limit} then found.last + 1 end as next
    from json_to_recordset(${toJson(rows)}::json) as rise (
      number int, verdict text, target_topic text, consumer_group text, partition int, "from" bigint, "to" bigint,
      "isFirst" boolean)
    cross join lateral (
      select rise.consumer_group = (
        select r.consumer_group from dlq.dlq_readers r where r.target_topic = rise.target_topic
        order by r.consumer_group limit 1) as first,
        -- What was settled before was sent to another topic of this name.
        (select t.new_since from dlq.dlq_target_topics t where t.target_topic = rise.target_topic) as new_since
    ) named
    cross join lateral (
      select count(*) as examined, max(piece.target_offset) as last,
             (count(*) filter (where
               (not rise."isFirst" or piece.settled_at > now() - interval '1 hour')
               and (named.new_since is null or piece.settled_at > named.new_since)
               and (m.consumer_group = rise.consumer_group
                    or (named.first and not exists (
                      select from dlq.dlq_readers own
                      where own.target_topic = rise.target_topic and own.consumer_group = m.consumer_group)))
               and (rise.verdict <> 'consumed' or not exists (
                 select from dlq.dlq_reader_gaps gap
                 where gap.target_topic = rise.target_topic and gap.partition = rise.partition
                   and gap.consumer_group = rise.consumer_group
                   and piece.target_offset >= gap.from_offset and piece.target_offset < gap.to_offset))))::float8 as count
      from (
        select message_id, target_offset, settled_at from dlq.dlq_attempts
        where target_topic = rise.target_topic and target_partition = rise.partition
          and target_offset >= rise."from" and target_offset < rise."to"
          and outcome = 'published' and failed_again_at is null
        order by target_offset limit ${limit}
      ) piece
      left join dlq.dlq_messages m on m.id = piece.message_id
    ) found
    order by rise.number`
}

/** The attempts that came back between the two times, given as text. */
export async function countCameBack(sql: Sql, { after, until }: { after: string; until: string }): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::float8 as count from dlq.dlq_attempts
    where failed_again_at > ${after}::text::timestamptz and failed_again_at <= ${until}::text::timestamptz`
  return row!.count
}
