// dlq_groups: groups without any message forget their texts, because what made a message a person's or a customer's may
// stand in them. State and owner stay; admit-groups.ts writes the texts again when the failure comes back.

import { overflowGroup } from '../../domain/grouping/error-fingerprint.ts'
import type { Sql } from '../sql.ts'
import { admittedForMs } from './admit-groups.ts'

/** Who stores may hold a group for `admittedForMs` after it was seen last. */
const unseenMs = 2 * admittedForMs

export type Forgotten = {
  forgotten: number
  /** The last group that was looked at; null where there are no more. */
  examinedTo: string | null
}

/** Looks at the `limit` groups behind `after`, in the order of their ids. */
export async function forgetEmptyGroups(
  sql: Sql,
  { after, limit }: { after: string; limit: number },
): Promise<Forgotten> {
  const [row] = await sql<[{ empty: string; purged: string; examined: number; last: string | null }]>`
    with examined as materialized (
      select id, last_seen_at, forgotten_at, archived_at, purged_at from dlq.dlq_groups
      where id > ${after}::uuid order by id limit ${limit}
    ),
    without_message as materialized (
      select id, archived_at, purged_at from examined
      -- The overflow group's texts are ours.
      where forgotten_at is null and id <> ${overflowGroup.id}::uuid and last_seen_at < now() - ${unseenMs}::float8 * interval '1 ms'
        -- A count, because PostgreSQL would read all messages for a "not exists".
        and (select count(*) from (
               select from dlq.dlq_messages m where m.group_id = any(array[examined.id]) and m.group_id is not null limit 1) any_message) = 0
    )
    select
      coalesce(json_agg(id) filter (where archived_at is null or not exists (
        -- Of the oldest quarter that is left, the first row answers. "1 day": archived_at is moved once a day.
        select from dlq.dlq_messages_archive a where a.archived_at <= w.archived_at + interval '1 day')), '[]')::text as empty,
      coalesce(json_agg(id) filter (where purged_at is not null), '[]')::text as purged,
      (select count(*)::int from examined) as examined, (select max(id::text) from examined) as last
    from without_message w`
  const empty = JSON.parse(row.empty) as string[]
  const purged = (JSON.parse(row.purged) as string[]).filter((id) => !empty.includes(id))
  const ids = [...empty, ...(purged.length === 0 ? [] : await withoutArchived(sql, purged))]
  return {
    forgotten: ids.length === 0 ? 0 : await forget(sql, ids),
    examinedTo: row.examined < limit ? null : row.last,
  }
}

/** Those of the groups that the archive has nothing of. Reads the archive, so only for groups that lost messages there. */
async function withoutArchived(sql: Sql, ids: readonly string[]): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    with archived as materialized (
      select distinct group_id from dlq.dlq_messages_archive where group_id = any(${sql.array([...ids])}::uuid[])
    ),
    looked_at as (
      update dlq.dlq_groups set purged_at = null where id in (select group_id from archived)
    )
    select id from unnest(${sql.array([...ids])}::uuid[]) as asked (id) where id not in (select group_id from archived)`
  return rows.map(({ id }) => id)
}

/** Asks once more under the lock whether the groups were seen since. Returns how many forgot. */
async function forget(sql: Sql, ids: readonly string[]): Promise<number> {
  const list = sql.array([...ids])
  const result = await sql<{ id: string }[]>`
    with unseen as materialized (
      select id from dlq.dlq_groups
      where id = any(${list}::uuid[]) and last_seen_at < now() - ${unseenMs}::float8 * interval '1 ms'
      order by id
      for update
    ),
    notes as (
      update dlq.dlq_group_topics set note = null where note is not null and group_id in (select id from unseen)
    )
    update dlq.dlq_groups g
    set title = '(no message is left)', message = '', error_class = null, location = null, note = null,
        forgotten_at = now(), purged_at = null
    from unseen where g.id = unseen.id
    returning g.id`
  return result.count
}
