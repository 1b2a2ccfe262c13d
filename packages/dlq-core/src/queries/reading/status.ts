// Who works, and on what, for the overview. Its counts come from the summary.

import type { Publishes } from './retriers.ts'
import type { Sql } from './sql.ts'
import { type TopicScope, topicInScope } from './topic-scope.ts'

export type FleetStatus = {
  dlq_topics: number
  /** When something was stored last. */
  stored_at: Date | null
  /** Error groups whose automatic retries are paused. */
  paused_groups: number
  retriers: { id: string; publishes: Publishes; fault: string | null; started_at: Date; seen_at: Date }[]
}

export async function readFleetStatus(sql: Sql, { scope }: { scope: TopicScope }): Promise<FleetStatus> {
  const [[numbers], retriers] = await Promise.all([
    sql<[Omit<FleetStatus, 'retriers'>]>`
      select
        (select count(*)::int from dlq.dlq_topics t where gone_at is null and ${topicInScope(sql, scope, 't.topic')}) as dlq_topics,
        (select max(updated_at) from dlq.dlq_positions p where ${topicInScope(sql, scope, 'p.topic')}) as stored_at,
        (select count(*)::int from dlq.dlq_group_pauses g
         where resumed_at is null and ${topicInScope(sql, scope, 'g.original_topic')}) as paused_groups`,
    sql<FleetStatus['retriers']>`
      select id, publishes, fault, started_at, seen_at from dlq.dlq_retriers
      where seen_at > now() - interval '1 minute' order by started_at, id limit 1000`,
  ])
  return { ...numbers, retriers }
}
