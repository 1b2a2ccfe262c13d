// Describes the migrated schemas as lines of text that tests can compare.
import type postgres from 'postgres'

/** Tables, partitions, columns, what names a row to a subscriber, constraints, indexes, functions, triggers and rights of the schemas dlq, saga and graphile_worker; sorted. */
export async function schemaOf(sql: postgres.Sql): Promise<string[]> {
  const rows = await sql<{ line: string }[]>`
    with ours as (
      select oid, nspname from pg_namespace where nspname in ('dlq', 'saga', 'graphile_worker')
    )
    select 'schema ' || nspname as line from ours
    union all
    select format('%s %s.%s %s', c.relkind, nspname, relname, pg_get_expr(relpartbound, c.oid))
    from pg_class c join ours on ours.oid = relnamespace
    union all
    select format('identity %s.%s %s', nspname, relname, relreplident)
    from pg_class c join ours on ours.oid = relnamespace where relkind in ('r', 'p')
    union all
    select format('column %s.%s %s. %s %s %s default %s', nspname, relname,
                  row_number() over (partition by attrelid order by attnum), attname, format_type(atttypid, atttypmod),
                  case when attnotnull then 'not null' end, pg_get_expr(adbin, adrelid))
    from pg_attribute a
    join pg_class c on c.oid = attrelid and relkind in ('r', 'p')
    join ours on ours.oid = relnamespace
    left join pg_attrdef on adrelid = attrelid and adnum = attnum
    where attnum > 0 and not attisdropped
    union all
    select format('constraint %s %s %s', conrelid::regclass, conname, pg_get_constraintdef(k.oid))
    from pg_constraint k join ours on ours.oid = connamespace
    union all
    select pg_get_indexdef(indexrelid) from pg_index join pg_class c on c.oid = indexrelid join ours on ours.oid = relnamespace
    union all
    select pg_get_functiondef(p.oid) from pg_proc p join ours on ours.oid = pronamespace
    union all
    select pg_get_triggerdef(t.oid) from pg_trigger t join pg_class c on c.oid = tgrelid join ours on ours.oid = relnamespace
    where not tgisinternal
    union all
    select format('rights %s %s', c.oid::regclass, acl) from pg_class c join ours on ours.oid = relnamespace cross join unnest(relacl) acl
    union all
    select format('rights %s %s', p.oid::regprocedure, acl) from pg_proc p join ours on ours.oid = pronamespace cross join unnest(proacl) acl`
  return rows.map(({ line }) => line).toSorted()
}
