// What was sent and is not read, and how far groups are behind, for the fleet's gauges.

import type { Sql } from '../sql.ts'

export type UnreadTopic = { target_topic: string; unread: number; since: Date }

/**
 * Of each topic the attempts that their own group has not read, and since when the oldest has waited. Only partitions
 * that a group which has failed there has not read to the end are looked into, `partitions` of them at most and
 * `perPartition` attempts in each; then the count means "at least".
 */
export async function listUnreadTopics(
  sql: Sql,
  { partitions, perPartition }: { partitions: number; perPartition: number },
): Promise<UnreadTopic[]> {
  return sql<UnreadTopic[]>`
    with behind as materialized (
      select p.target_topic, p.partition, p.consumer_group, greatest(p.passed_offset, p.log_start_offset) as from_offset
      from dlq.dlq_reader_partitions p
      where p.passed_offset < p.log_end_offset
        and exists (
          select from dlq.dlq_summary_totals s
          where s.original_topic = p.target_topic and s.consumer_group = p.consumer_group)
      order by p.target_topic, p.partition, p.consumer_group
      limit ${partitions}
    )
    select behind.target_topic, count(*)::float8 as unread, min(a.settled_at) as since
    from behind
    cross join lateral (
      select message_id, target_offset, settled_at, failed_again_at, confirmed_at from dlq.dlq_attempts
      where target_topic = behind.target_topic and target_partition = behind.partition
        and target_offset >= behind.from_offset and outcome = 'published'
      order by target_offset limit ${perPartition}
    ) a
    join dlq.dlq_messages m on m.id = a.message_id and m.consumer_group = behind.consumer_group
    cross join lateral dlq.verdict(
      m.consumer_group, behind.target_topic, behind.partition, a.target_offset, a.settled_at, a.failed_again_at,
      a.confirmed_at) v
    where v.verdict = 'sent' and a.settled_at is not null
    group by behind.target_topic`
}

export type LaggingReader = { target_topic: string; consumer_group: string; lag: number }

/** The groups with commits on a topic that messages were sent to, with what they have not read; the greatest lag first. */
export async function listLaggingReaders(sql: Sql, { limit }: { limit: number }): Promise<LaggingReader[]> {
  return sql<LaggingReader[]>`
    select target_topic, consumer_group,
           sum(greatest(0, log_end_offset - greatest(committed_offset, log_start_offset)))::float8 as lag
    from dlq.dlq_reader_partitions where committed_offset is not null
    group by target_topic, consumer_group
    order by lag desc, target_topic, consumer_group
    limit ${limit}`
}
