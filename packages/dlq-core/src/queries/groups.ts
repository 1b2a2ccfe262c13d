// dlq_groups and dlq_group_topics: the error groups, and which DLQ topics have them.

import type { Fingerprint } from '../error-fingerprint.ts'
import { type Sql, toJson } from './sql.ts'

/** Makes the groups that are missing. Their rows' other columns belong to people and are left alone. */
export async function createGroups(sql: Sql, groups: readonly Fingerprint[]): Promise<void> {
  if (groups.length === 0) return
  await sql`
    insert into dlq.dlq_groups (id, version, error_class, location, message, title)
    select id, version, "errorClass", location, message, title
    from json_to_recordset(${toJson(groups)}::json)
      as found (id uuid, version int, "errorClass" text, location text, message text, title text)
    order by id
    on conflict (id) do nothing`
}

export type GroupOfTopic = { dlq_topic: string; group_id: string }

/**
 * Adds groups to their topics, as long as a topic has fewer than `maxPerTopic`. Returns those that the
 * topics have now. Two ingesters at once may exceed the bound by what they add in that moment.
 */
export async function admitGroups(
  sql: Sql,
  { groups, maxPerTopic }: { groups: readonly GroupOfTopic[]; maxPerTopic: number },
): Promise<GroupOfTopic[]> {
  if (groups.length === 0) return []
  const wanted = toJson(groups)
  await sql`
    insert into dlq.dlq_group_topics (dlq_topic, group_id)
    select dlq_topic, group_id
    from (
      select w.dlq_topic, w.group_id,
             row_number() over (partition by w.dlq_topic order by w.group_id)
               + (select count(*) from dlq.dlq_group_topics t where t.dlq_topic = w.dlq_topic) as number
      from json_to_recordset(${wanted}::json) as w (dlq_topic text, group_id uuid)
      where not exists (select from dlq.dlq_group_topics t where t.dlq_topic = w.dlq_topic and t.group_id = w.group_id)
    ) new_ones
    where number <= ${maxPerTopic}
    order by dlq_topic, group_id
    on conflict (dlq_topic, group_id) do nothing`
  return sql<GroupOfTopic[]>`
    select t.dlq_topic, t.group_id
    from dlq.dlq_group_topics t
    join json_to_recordset(${wanted}::json) as w (dlq_topic text, group_id uuid) using (dlq_topic, group_id)`
}

/** Moves the groups' last_seen_at, each at most every `everyMs`: the rows are shared by all ingesters. */
export async function touchGroups(
  sql: Sql,
  { ids, everyMs }: { ids: readonly string[]; everyMs: number },
): Promise<void> {
  if (ids.length === 0) return
  await sql`
    with stale as materialized (
      -- Rows that another ingester is touching are as good as touched.
      select id from dlq.dlq_groups
      where id = any(${sql.array([...ids])}::uuid[]) and last_seen_at < now() - ${everyMs}::int * interval '1 ms'
      order by id
      for update skip locked
    )
    update dlq.dlq_groups g set last_seen_at = now() from stale where g.id = stale.id`
}
