// What the specification's own migrations make, compared with what is there.
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import type { Sql } from 'postgres'
import { expect, test } from 'vitest'
import { specifiedDlq, specifiedSaga } from './test-specified-schema.ts'

const database = useDatabase()
const specified = useDatabase({ empty: true })

/** Columns in their order, constraints, indexes, triggers and routines. */
async function objectsOf(sql: Sql): Promise<string[]> {
  const rows = await sql<{ line: string }[]>`
    with ours as (select oid, nspname from pg_namespace where nspname in ('dlq', 'saga'))
    select format('column %s.%s %s. %s %s %s default %s', nspname, relname,
                  row_number() over (partition by attrelid order by attnum), attname, format_type(atttypid, atttypmod),
                  case when attnotnull then 'not null' end, pg_get_expr(adbin, adrelid)) as line
    from pg_attribute a
    join pg_class c on c.oid = attrelid and relkind in ('r', 'p')
    join ours on ours.oid = relnamespace
    left join pg_attrdef on adrelid = attrelid and adnum = attnum
    where attnum > 0 and not attisdropped
    union all
    select format('constraint %s %s %s', conrelid::regclass, conname, pg_get_constraintdef(k.oid))
    from pg_constraint k join ours on ours.oid = connamespace where contype <> 'n'
    union all
    select replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON ')
    from pg_index join pg_class c on c.oid = indexrelid join ours on ours.oid = relnamespace
    union all
    select pg_get_triggerdef(t.oid) from pg_trigger t join pg_class c on c.oid = tgrelid join ours on ours.oid = relnamespace
    where not tgisinternal
    union all
    select format('routine %s(%s)', p.oid::regproc, pg_get_function_arguments(p.oid)) from pg_proc p join ours on ours.oid = pronamespace`
  return rows.map(({ line }) => line)
}

test('everything that the specification’s own migrations make is there, but for ids and indexes that differ', async () => {
  for (const migrations of [specifiedDlq, specifiedSaga]) await specified.sql.unsafe(migrations)
  const wanted = await objectsOf(specified.sql)
  const made = new Set(await objectsOf(database.sql))
  expect(wanted.length).toBeGreaterThan(60)
  expect(wanted.filter((line) => !made.has(line)).toSorted()).toEqual([
    // Ids from coordinates, partitions, and fewer indexes (decisions 1, 7, 20 and 67); the trigger has a condition (45).
    'CREATE INDEX dlq_messages_archive_created_at_idx ON dlq.dlq_messages_archive USING btree (created_at)',
    'CREATE INDEX dlq_messages_archive_original_topic_idx ON dlq.dlq_messages_archive USING btree (original_topic)',
    'CREATE INDEX dlq_messages_archive_status_idx ON dlq.dlq_messages_archive USING btree (status)',
    'CREATE INDEX idx_dlq_messages_original_topic ON dlq.dlq_messages USING btree (original_topic)',
    'CREATE INDEX idx_dlq_messages_status ON dlq.dlq_messages USING btree (status)',
    'CREATE TRIGGER trg_dlq_messages_updated_at BEFORE UPDATE ON dlq.dlq_messages FOR EACH ROW EXECUTE FUNCTION dlq.update_updated_at()',
    'CREATE UNIQUE INDEX dlq_messages_archive_pkey ON dlq.dlq_messages_archive USING btree (id)',
    'column dlq.dlq_messages 1. id uuid not null default gen_random_uuid()',
    'column dlq.dlq_messages_archive 1. id uuid not null default gen_random_uuid()',
    'constraint dlq.dlq_messages_archive dlq_messages_archive_pkey PRIMARY KEY (id)',
  ])
})
