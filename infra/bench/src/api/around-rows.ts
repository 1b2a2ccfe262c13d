// What lies around the messages of the API's benchmark after weeks of use: attempts, edits of groups, runs, the audit,
// policies, names, routes, and what consumer groups have read.

import type { Sql } from 'dlq-core/queries/sql.ts'
import { topicCount } from './api-rows.ts'

const auditedCount = 50_000
const runCount = 500

/** One run for each; every second one is over an error group. */
export function runIdOf(number: number): string {
  return `00000000-0000-4000-8000-${String(number % runCount).padStart(12, '0')}`
}

/** The messages must be there. */
export async function storeAround(sql: Sql): Promise<void> {
  await sql`
    insert into dlq.dlq_group_topics (dlq_topic, group_id, first_seen_at, last_seen_at, state, state_changed_at, owner)
    select dlq_topic, group_id, now() - interval '50 days', now() - n % 5000 * interval '1 minute',
           case when n % 10 = 0 then 'ignored' when n % 10 = 1 then 'resolved' else 'open' end,
           -- A half of those resolved has come back since.
           case when n % 10 < 2 then now() - case when n % 20 < 2 then n % 5000 + 10 else 1 end * interval '1 minute' end, case when n % 4 = 0 then 'maria' end
    from (select dlq_topic, group_id, row_number() over (order by dlq_topic, group_id) as n
          from dlq.dlq_summary where group_id is not null group by dlq_topic, group_id) pairs`
  await sql`
    insert into dlq.dlq_runs (
      id, kind, status, actor, reason, selection, until_id, matched, matched_relation, taken, resolved, failed_again, created_at, started_at, ended_at)
    select ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, 'retry', case when n % 100 = 0 then 'paused' else 'completed' end,
           'maria', 'the fix is deployed',
           json_build_object('filter', case when n % 2 = 0
             then json_build_object('group_id', ('00000000-0000-8000-8000-' || lpad(n::text, 12, '0'))) else json_build_object('topic', 'topic-' || n % 200) end),
           'ffffffff-ffff-7fff-bfff-ffffffffffff', 400, 'eq', 400, 380, 20,
           now() - n * interval '2 hours', now() - n * interval '2 hours', case when n % 100 > 0 then now() - n * interval '2 hours' end
    from generate_series(0, ${runCount - 1}::int) n`
  // What was sent, some of it by runs; a tenth of it came back.
  await sql`
    insert into dlq.dlq_attempts (
      message_id, number, attempt_id, actor, run_id, slot, target_topic, target_partition, target_offset, outcome, started_at, settled_at,
      failed_again_at, failed_again_topic, failed_again_partition, failed_again_offset, failed_again_class, failed_again_message, error_changed)
    select id, 1, id, 'auto', case when n % 2 = 0 then ('00000000-0000-4000-8000-' || lpad((n % ${runCount}::int)::text, 12, '0'))::uuid end, 1,
           original_topic, dlq_partition, n, case when n % 50 = 0 then 'failed' else 'published' end, sent, sent,
           case when n % 10 = 3 then sent + interval '1 minute' end, dlq_topic, dlq_partition, n, error_class, error_message, false
    from (
      select id, original_topic, dlq_topic, dlq_partition, error_class, error_message, created_at + interval '5 minutes' as sent,
             row_number() over (order by id) as n
      from dlq.dlq_messages where status in ('RESOLVED', 'DEAD')
    ) sent
    order by sent`
  await sql`
    insert into dlq.dlq_audit (at, actor, role, action, target_type, target_id, original_topic, dlq_topic, reason, request_id)
    select now() - n * interval '1 minute', 'person-' || n % 20, 'write',
           case when n % 3 = 0 then 'message.edit' else 'message.dead' end, 'message', id::text, original_topic, dlq_topic,
           'ticket ' || n, 'req_' || n
    from (select id, original_topic, dlq_topic, row_number() over () as n from dlq.dlq_messages tablesample system (20) limit ${auditedCount}::int) m
    order by n desc`
  await sql`
    insert into dlq.dlq_audit (actor, role, action, target_type, target_id, reason)
    select 'maria', 'write', 'run.create', 'run', id::text, reason from dlq.dlq_runs`
  await sql`
    insert into dlq.dlq_policies (pattern, max_retries) select 'topic-' || n, 5 from generate_series(0, 99) n`
  await sql`
    insert into dlq.dlq_names (kind, id, display_name) select 'topic', 'topic-' || n, 'Topic ' || n from generate_series(0, 99) n`
  await sql`
    insert into dlq.dlq_routes (dlq_topic, original_topic, state)
    select 'topic-' || n || '.dlq.v1', 'topic-' || n, 'by_name' from generate_series(0, ${topicCount - 1}::int) n`
  await sql`
    insert into dlq.dlq_topic_partitions (cluster, topic, partition, log_start_offset, log_end_offset)
    select cluster, topic, partition, 0, next_offset from dlq.dlq_positions`
  await sql`
    insert into dlq.dlq_readers (target_topic, consumer_group, state, members, horizon)
    select 'topic-' || n, 'group-' || g, 'Stable', 2, interval '10 minutes'
    from generate_series(0, ${topicCount - 1}::int) n, generate_series(0, 6) g`
  await sql`
    insert into dlq.dlq_reader_partitions (
      target_topic, consumer_group, partition, committed_offset, log_start_offset, log_end_offset, passed_offset, settled_offset)
    select target_topic, consumer_group, p, 500000, 0, 1000000, 500000, 400000 from dlq.dlq_readers, generate_series(0, 7) p`
  await sql`
    vacuum analyze dlq.dlq_attempts, dlq.dlq_audit, dlq.dlq_runs, dlq.dlq_group_topics, dlq.dlq_policies, dlq.dlq_names, dlq.dlq_routes,
      dlq.dlq_readers, dlq.dlq_reader_partitions, dlq.dlq_topic_partitions`
}
