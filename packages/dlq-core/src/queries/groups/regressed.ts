// Error groups that have come back: a message has arrived since somebody set the group to resolved for its topic.
//
// last_seen_at is moved twice a minute at most, so the newest messages are asked as well: those whose ids are later, of
// which there are hardly ever any.

import { statuses } from '../../domain/retry/message-state.ts'
import { idFloor } from '../id-floor.ts'
import type { Fragment, Sql } from '../sql.ts'

/** So many of a group's newest messages per status are looked through for one of a topic. */
const newestLookedAt = 100

/** Whether it has, of a row `t` of dlq_group_topics: for the topics of one group. */
export function isRegressed(sql: Sql) {
  const newest = newestMessages(sql, { groupId: sql`t.group_id`, since: sql`t.state_changed_at` })
  return sql`
    t.state = 'resolved' and t.state_changed_at is not null and (
      coalesce(t.last_seen_at > t.state_changed_at, false)
      or exists (
        select from ${newest}
        where newest.created_at > t.state_changed_at and newest.topic = t.dlq_topic)
    )`
}

/**
 * A query: the `group_id` of each group that has for one of its rows `t` of dlq_group_topics that pass the tests. Messages
 * are looked up once for a group, and not once for each of its topics.
 */
export function regressedGroups(sql: Sql, tests: Fragment) {
  const newest = newestMessages(sql, { groupId: sql`resolved.group_id`, since: sql`resolved.since` })
  return sql`
    select resolved.group_id
    from (
      select t.group_id, bool_or(coalesce(t.last_seen_at > t.state_changed_at, false)) as is_seen,
             min(t.state_changed_at) as since, array_agg(t.dlq_topic) as topics, array_agg(t.state_changed_at) as times
      from dlq.dlq_group_topics t
      where t.state = 'resolved' and t.state_changed_at is not null and ${tests}
      group by t.group_id
    ) resolved
    where is_seen or exists (
      select from ${newest}
      join unnest(resolved.topics, resolved.times) topic (name, state_changed_at) on topic.name = newest.topic
      where newest.created_at > topic.state_changed_at and newest.id >= ${idFloor(sql, sql`topic.state_changed_at`)}
    )`
}

/** The messages of a group whose ids are not before the time, as `newest`: as many of each status as are looked at. */
function newestMessages(sql: Sql, { groupId, since }: { groupId: Fragment; since: Fragment }) {
  return sql`
    (select found.id, found.created_at, found.topic
     from unnest(${sql.array([...statuses])}::text[]) s (status)
     cross join lateral (
       select m.id, m.created_at, coalesce(m.dlq_topic, m.original_topic) as topic from dlq.dlq_messages m
       where m.group_id = any(array[${groupId}]) and m.status = any(array[s.status]) and m.group_id is not null
         and m.id >= ${idFloor(sql, since)}
       order by m.group_id desc, m.status desc, m.id desc limit ${newestLookedAt}
     ) found) newest`
}
