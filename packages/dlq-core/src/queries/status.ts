// A few numbers of every table, for the overview.

import { countByStatus, type StatusCounts } from './message-counts.ts'
import type { Publishes } from './retriers.ts'
import type { Sql } from './sql.ts'
import { inScope, type TopicScope, topicInScope } from './topic-scope.ts'

/** So many waiting messages are looked at for the oldest one that may be seen. */
const examined = 1000

export type Status = {
  counts: StatusCounts
  oldest_pending_at: Date | null
  dlq_topics: number
  stored_at: Date | null
  paused_groups: number
  retriers: { id: string; publishes: Publishes; fault: string | null; started_at: Date; seen_at: Date }[]
}

export async function readStatus(sql: Sql, { scope }: { scope: TopicScope }): Promise<Status> {
  const [counts, [numbers], retriers] = await Promise.all([
    countByStatus(sql, { scope }),
    sql<[Omit<Status, 'counts' | 'retriers'>]>`
      select
        (select created_at from (
           select created_at, original_topic, dlq_topic from dlq.dlq_messages
           where status = any(array['PENDING']) order by status, id limit ${examined}
         ) waiting where ${inScope(sql, scope)} limit 1) as oldest_pending_at,
        (select count(*)::int from dlq.dlq_topics t where gone_at is null and ${topicInScope(sql, scope, 't.topic')}) as dlq_topics,
        (select max(updated_at) from dlq.dlq_positions p where ${topicInScope(sql, scope, 'p.topic')}) as stored_at,
        (select count(*)::int from dlq.dlq_group_pauses g
         where resumed_at is null and ${topicInScope(sql, scope, 'g.original_topic')}) as paused_groups`,
    sql<Status['retriers']>`
      select id, publishes, fault, started_at, seen_at from dlq.dlq_retriers
      where seen_at > now() - interval '1 minute' order by started_at, id limit 1000`,
  ])
  return { counts, ...numbers, retriers }
}
