// dlq_groups and dlq_group_topics: gives failures their error groups, and bounds the number of groups per topic.
// All code that stores messages, or groups stored ones, calls this.

import { type Fingerprint, overflowGroup } from '../../domain/grouping/error-fingerprint.ts'
import { idsAsFew, type Sql, toJson } from '../sql.ts'

/** A topic whose errors are all different (their text holds an id that is not recognised) must not fill the table. */
const maxGroupsPerTopic = 1000
/** A group's last_seen_at is moved at most this often, because all ingesters share the row. */
export const touchEveryMs = 30_000

/**
 * Who stores may use a group that was admitted for this long without asking again. A group that nobody saw for twice as
 * long may forget its texts (empty-groups.ts), and the next admission writes them again.
 */
export const admittedForMs = 3_600_000

export type WantedGroup = {
  /** The topic that counts the group: the DLQ topic, or the original topic of a message that was never on one. */
  topic: string
  group: Fingerprint
  /** When its messages failed, first and last, by their records; now, unless given. */
  failed?: FailedAt | undefined
}

/** Times of records may lie in the future, where a clock is wrong: they count as now. */
export type FailedAt = { first: Date; last: Date }

/**
 * Creates the missing groups, and adds them to their topics. Returns the id of the group to use for each wanted one,
 * in their order: its own, or the overflow group where its topic has too many groups. Two callers at the same time
 * may exceed the bound by the groups that they add.
 */
export async function admitGroups(sql: Sql, wanted: readonly WantedGroup[]): Promise<string[]> {
  if (wanted.length === 0) return []
  const groups = [overflowGroup, ...new Map(wanted.map(({ group }) => [group.id, group])).values()]
  await createGroups(sql, groups, wanted)
  // First touched: what was seen just now does not forget its texts. Then restored, where it had forgotten them before.
  await touchGroups(
    sql,
    wanted.map(({ topic, group, failed }) => ({ topic, group_id: group.id, failed })),
  )
  await restoreTexts(sql, groups)
  const places = new Map(wanted.map((one) => [keyOf(one.topic, one.group.id), one]))
  const json = toJson(
    [...places.values()].map(({ topic, group, failed }) => ({
      ...{ dlq_topic: topic, group_id: group.id },
      ...{ first: failed?.first, last: failed?.last },
    })),
  )
  await sql`
    insert into dlq.dlq_group_topics (dlq_topic, group_id, first_seen_at, last_seen_at)
    select dlq_topic, group_id, least(first, now()), least(last, now())
    from (
      select w.dlq_topic, w.group_id, w.first, w.last,
             row_number() over (partition by w.dlq_topic order by w.group_id)
               + (select count(*) from dlq.dlq_group_topics t where t.dlq_topic = w.dlq_topic) as number
      from json_to_recordset(${json}::json) as w (dlq_topic text, group_id uuid, first timestamptz, last timestamptz)
      where not exists (select from dlq.dlq_group_topics t where t.dlq_topic = w.dlq_topic and t.group_id = w.group_id)
    ) new_ones
    where number <= ${maxGroupsPerTopic}
    order by dlq_topic, group_id
    on conflict (dlq_topic, group_id) do nothing`
  const admitted = await sql<{ dlq_topic: string; group_id: string }[]>`
    select t.dlq_topic, t.group_id
    from dlq.dlq_group_topics t
    join json_to_recordset(${json}::json) as w (dlq_topic text, group_id uuid) using (dlq_topic, group_id)`
  const known = new Set(admitted.map(({ dlq_topic, group_id }) => keyOf(dlq_topic, group_id)))
  return wanted.map(({ topic, group }) => (known.has(keyOf(topic, group.id)) ? group.id : overflowGroup.id))
}

/** Leaves the other columns of existing rows alone, because they belong to people. */
async function createGroups(sql: Sql, groups: readonly Fingerprint[], wanted: readonly WantedGroup[]): Promise<void> {
  const firsts = new Map<string, Date>()
  for (const { group, failed } of wanted) {
    const known = firsts.get(group.id)
    if (failed && (known === undefined || failed.first < known)) firsts.set(group.id, failed.first)
  }
  const rows = groups.map((group) => ({ ...group, first: firsts.get(group.id) }))
  await sql`
    insert into dlq.dlq_groups (id, version, error_class, location, message, title, first_seen_at)
    select id, version, "errorClass", location, message, title, least(first, now())
    from json_to_recordset(${toJson(rows)}::json)
      as found (id uuid, version int, "errorClass" text, location text, message text, title text, first timestamptz)
    order by id
    on conflict (id) do nothing`
}

/** A condition on a row: it has forgotten its texts, or an erasure has emptied them. */
function hasNoTexts(sql: Sql) {
  return sql`(forgotten_at is not null or message = 'erased')`
}

/** Those of the groups without texts: who knows them should admit them again with the next failure. */
export async function listWithoutTexts(sql: Sql, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const rows = await sql<{ id: string }[]>`
    select id from dlq.dlq_groups where id = any(${idsAsFew(sql, ids)}) and ${hasNoTexts(sql)}`
  return new Set(rows.map(({ id }) => id))
}

/** Writes the texts of groups that have none. There are hardly ever any, and only these are locked. */
async function restoreTexts(sql: Sql, groups: readonly Fingerprint[]): Promise<void> {
  await sql`
    with forgotten as materialized (
      select id from dlq.dlq_groups
      where id = any(${idsAsFew(
        sql,
        groups.map(({ id }) => id),
      )}) and ${hasNoTexts(sql)}
      order by id
      for update
    )
    update dlq.dlq_groups g
    set error_class = found."errorClass", location = found.location, message = found.message, title = found.title,
        forgotten_at = null
    from forgotten
    join json_to_recordset(${toJson(groups)}::json)
      as found (id uuid, "errorClass" text, location text, message text, title text) using (id)
    -- An array, because PostgreSQL may read the whole table for a join.
    where g.id = forgotten.id and g.id = any(array(select id from forgotten))`
}

export type GroupOfTopic = Pick<WantedGroup, 'topic' | 'failed'> & { group_id: string }

/**
 * Moves the last_seen_at of groups that were given out, and of their topics, unless it was moved within `touchEveryMs`.
 * A group was seen when it was stored: who holds it must not lose its texts (empty-groups.ts). A topic has had the failure
 * when its record was written, which may be a day before it is stored.
 */
export async function touchGroups(sql: Sql, given: readonly GroupOfTopic[]): Promise<void> {
  const seen = [...new Set(given.map(({ group_id }) => group_id))]
  if (seen.length === 0) return
  await sql`
    with stale as materialized (
      -- A row that another ingester has locked is being touched at this moment, so it is skipped.
      select id from dlq.dlq_groups
      where id = any(${idsAsFew(sql, seen)}) and last_seen_at < now() - ${touchEveryMs}::int * interval '1 ms'
      order by id
      for update skip locked
    )
    update dlq.dlq_groups set last_seen_at = now() where id = any(array(select id from stale))`
  const json = toJson(given.map(({ topic, group_id, failed }) => ({ dlq_topic: topic, group_id, last: failed?.last })))
  await sql`
    with seen as materialized (
      select dlq_topic, group_id, least(max(coalesce(last, now())), now()) as failed_at
      from json_to_recordset(${json}::json) as given (dlq_topic text, group_id uuid, last timestamptz)
      group by dlq_topic, group_id
    ),
    stale as materialized (
      select t.place, seen.failed_at from seen
      cross join lateral (
        select ctid as place from dlq.dlq_group_topics
        where dlq_topic = seen.dlq_topic and group_id = seen.group_id
          and (last_seen_at is null or last_seen_at < seen.failed_at - ${touchEveryMs}::int * interval '1 ms')
        for update skip locked
      ) t
    )
    -- By place: for a join by name PostgreSQL may, for each group, look through all of its topic.
    update dlq.dlq_group_topics t set last_seen_at = stale.failed_at from stale where t.ctid = stale.place`
}

function keyOf(topic: string, groupId: string): string {
  return `${groupId} ${topic}`
}
