// dlq_messages and its archive: which values the newest messages of a filter have, and how often.

import type { Sql } from '../sql.ts'
import { type MessageSearch, scanMessages } from './message-scan.ts'
import { passes, rowsOf } from './message-search.ts'
import { newestSeen } from './newest-seen.ts'

export const facetNames = [
  ...(['original_topic', 'consumer_group', 'partition', 'status', 'error_class', 'group_id', 'age'] as const),
]
export type FacetName = (typeof facetNames)[number]

/** `value`: null where a message has none. */
export type FacetValue = { facet: FacetName; value: string | null; count: number }

/** `examined`: those of them that the caller may see. `isComplete`: there are no more. */
export type Facets = { values: FacetValue[]; examined: number; found: number; isComplete: boolean }

/** Looks at the newest `examine` messages along the filter's index. The most frequent values come first, `limit` of each facet. */
export async function countFacets(
  sql: Sql,
  { search, by, examine, limit }: { search: MessageSearch; by: readonly FacetName[]; examine: number; limit: number },
): Promise<Facets> {
  const scan = scanMessages(sql, { search })
  const columns = by.map((name) => sql`looked.${sql(name)}`).reduce((list, column) => sql`${list}, ${column}`)
  const ids = sql`select id from listed`
  const seen = newestSeen(sql, { scan, scope: search.scope, examine })
  type Row = Omit<FacetValue, 'facet'> & { place: number | null; walked: number; examined: number; found: number }
  const rows = await sql<Row[]>`
    with listed as materialized (${seen.ids}),
    looked as materialized (
      select m.original_topic::text as original_topic, m.consumer_group, m.original_partition::text as partition,
             m.status::text as status, m.error_class, m.group_id::text as group_id,
             case when m.created_at > now() - interval '1 day' then 'under 1d'
                  when m.created_at > now() - interval '7 days' then '1d to 7d'
                  when m.created_at > now() - interval '30 days' then '7d to 30d'
                  else 'over 30d' end as age
      from ${rowsOf(sql, { table: scan.table, ids })} m
      where ${passes(sql, scan)}
    )
    select null as place, null as value, 0 as count,
           (${seen.walked}) as walked, (select count(*)::int from listed) as examined,
           (select count(*)::int from looked) as found
    union all
    select place::int, value, count, 0, 0, 0
    from (
      select place, value, count(*)::int as count,
             row_number() over (partition by place order by count(*) desc, value) as rank
      from looked
      cross join lateral unnest(array[${columns}]) with ordinality as each (value, place)
      group by place, value
    ) counted
    where rank <= ${limit}
    order by count desc, value`
  const { walked, examined, found } = rows.find(({ place }) => place === null)!
  const values = rows.flatMap(({ place, value, count }) =>
    place === null ? [] : [{ facet: by[place - 1]!, value, count }],
  )
  return { values, examined, found, isComplete: examined < examine && walked < seen.bound }
}
