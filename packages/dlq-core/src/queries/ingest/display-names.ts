// dlq_names: the names that people give to topics and consumer groups.

import type { Sql } from '../sql.ts'

export type NamedKind = 'topic' | 'consumer_group'

/** The names of those of the ids that have one. A topic without one has that of dlq_topics, which only SQL sets. */
export async function listNames(
  sql: Sql,
  { kind, ids }: { kind: NamedKind; ids: readonly string[] },
): Promise<Map<string, string>> {
  const asked = sql.array([...new Set(ids)])
  const rows = await sql<{ id: string; display_name: string }[]>`
    select id, display_name from dlq.dlq_names where kind = ${kind} and id = any(${asked}::text[])
    union all
    select topic, min(display_name) from dlq.dlq_topics t
    where ${kind} = 'topic' and topic = any(${asked}::text[]) and display_name is not null
      and not exists (select from dlq.dlq_names n where n.kind = 'topic' and n.id = t.topic)
    group by topic`
  return new Map(rows.map(({ id, display_name }) => [id, display_name]))
}

/** Gives a name, or with null takes it away. Returns the name before; it is null where there was none. */
export async function setName(
  sql: Sql,
  { kind, id, name }: { kind: NamedKind; id: string; name: string | null },
): Promise<string | null> {
  // Locked, so that the audit tells the names in their order.
  await sql`select pg_advisory_xact_lock(hashtextextended('dlq.dlq_names ' || ${`${kind} ${id}`}, 0))`
  const before = (await listNames(sql, { kind, ids: [id] })).get(id) ?? null
  if (name === null) await sql`delete from dlq.dlq_names where kind = ${kind} and id = ${id}`
  else
    await sql`
      insert into dlq.dlq_names (kind, id, display_name) values (${kind}, ${id}, ${name})
      on conflict (kind, id) do update set display_name = excluded.display_name, updated_at = now()`
  // One name at a time: what SQL had set is replaced, too.
  if (kind === 'topic')
    await sql`update dlq.dlq_topics set display_name = null where topic = ${id} and display_name is not null`
  return before
}
