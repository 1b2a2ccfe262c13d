// dlq_readers: how far the groups behind a topic are from its end, for runs that wait for them.

import type { Sql } from '../sql.ts'

/** `has_failed`: messages of the topic name the group. */
export type ReaderLag = { target_topic: string; consumer_group: string; lag: number; has_failed: boolean }

/** The groups that read these topics, as of the last look; without those that have had no members for a day and never failed. */
export async function listReaderLags(sql: Sql, topics: readonly string[]): Promise<ReaderLag[]> {
  return sql<ReaderLag[]>`
    select r.target_topic, r.consumer_group, lag.records as lag, failed.has_failed
    from dlq.dlq_readers r
    cross join lateral (
      select sum(greatest(0, p.log_end_offset - greatest(p.committed_offset, p.log_start_offset)))::float8 as records
      from dlq.dlq_reader_partitions p
      where p.target_topic = r.target_topic and p.consumer_group = r.consumer_group and p.committed_offset is not null
    ) lag
    cross join lateral (
      select exists (
        select from dlq.dlq_summary_totals s
        where s.original_topic = r.target_topic and s.consumer_group = r.consumer_group) as has_failed
    ) failed
    where r.target_topic = any(${sql.array([...topics])}::text[]) and lag.records is not null
      and (failed.has_failed or coalesce(r.alone_since > now() - interval '1 day', true))`
}
