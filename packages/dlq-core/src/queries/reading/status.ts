// The processes of the fleet and their work, for the overview. The overview's counts come from the summary.

import { type Ingester, listIngesters } from '../ingest/ingesters.ts'
import type { HeldTopic, Publishes } from '../retry/retriers.ts'
import { listTopicPauses, type TopicPause } from '../retry/topic-pauses.ts'
import type { Sql } from '../sql.ts'
import { type TopicScope, topicInScope } from '../topic-scope.ts'

export type FleetStatus = {
  dlq_topics: number
  /** When the last message was stored. */
  stored_at: Date | null
  /** Error groups whose automatic retries are paused. */
  paused_groups: number
  /** False where PostgreSQL is a standby, or was made read-only. */
  takes_changes: boolean
  /** Topics that somebody has paused. */
  paused_topics: TopicPause[]
  /** Topics that a retrier only probes, because records for them are refused; those held for longest first. */
  held_topics: HeldTopic[]
  ingesters: Ingester[]
  retriers: { id: string; publishes: Publishes; fault: string | null; started_at: Date; seen_at: Date }[]
}

export async function readFleetStatus(sql: Sql, { scope }: { scope: TopicScope }): Promise<FleetStatus> {
  const [[numbers], retriers, heldTopics, pausedTopics, ingesters] = await Promise.all([
    sql<[Omit<FleetStatus, 'retriers' | 'held_topics' | 'paused_topics' | 'ingesters'>]>`
      select
        (select count(*)::int from dlq.dlq_topics t where gone_at is null and ${topicInScope(sql, scope, 't.topic')}) as dlq_topics,
        (select max(updated_at) from dlq.dlq_positions p where ${topicInScope(sql, scope, 'p.topic')}) as stored_at,
        -- A group has a pause for each of its original topics.
        (select count(distinct group_id)::int from dlq.dlq_group_pauses g
         where resumed_at is null and ${topicInScope(sql, scope, 'g.original_topic')}) as paused_groups,
        -- Not transaction_read_only: who only reads may begin a transaction that takes no changes.
        not pg_is_in_recovery() and current_setting('default_transaction_read_only') = 'off' as takes_changes`,
    sql<FleetStatus['retriers']>`
      select id, publishes, fault, started_at, seen_at from dlq.dlq_retriers
      where seen_at > now() - interval '1 minute' order by started_at, id limit 1000`,
    sql<HeldTopic[]>`
      select held.topic, min(held.reason) as reason, min(held.since) as since
      from dlq.dlq_retriers r
      cross join json_to_recordset(r.held_topics) as held (topic text, reason text, since timestamptz)
      where r.seen_at > now() - interval '1 minute' and ${topicInScope(sql, scope, 'held.topic')}
      group by held.topic order by since, topic limit 1000`,
    listTopicPauses(sql, { scope }),
    listIngesters(sql, { scope }),
  ])
  return { ...numbers, paused_topics: [...pausedTopics], held_topics: [...heldTopics], retriers, ingesters }
}
