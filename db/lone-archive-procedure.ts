// dlq.archive_old_dlq_messages for a schema that stops between migrations 003 and 012. The procedure of 003 calls
// dlq.archive_messages, which 012 makes and takes away again; without it, it would fail at the first old message.

import type pg from 'pg'

/** Replaces the procedure by one that needs nothing but the two tables, where dlq.archive_messages is missing. Migration 024 brings the full one back. */
export async function mendArchiveProcedure(client: pg.Client): Promise<void> {
  const { rows } = await client.query(`
    select to_regprocedure('dlq.archive_old_dlq_messages(int, int)') is not null
       and to_regprocedure('dlq.archive_messages(uuid[], timestamptz, timestamptz)') is null as broken`)
  if (rows[0].broken) await client.query(loneProcedure)
}

const loneProcedure = `
create or replace procedure dlq.archive_old_dlq_messages(p_retention_days int default 30, p_batch_size int default 1000)
language plpgsql
as $$
declare
    v_cutoff         timestamptz;
    v_archived_count int := 0;
    v_batch_count    int;
    v_columns        text := (
        select string_agg(quote_ident(attname), ', ' order by attnum) from pg_attribute
        where attrelid = 'dlq.dlq_messages'::regclass and attnum > 0 and not attisdropped);
begin
    if p_retention_days is null or p_retention_days not between 0 and 36500 or p_batch_size is null or p_batch_size < 1 then
        raise exception 'p_retention_days must be from 0 to 36500 and p_batch_size at least 1, not % and %', p_retention_days, p_batch_size
            using errcode = 'invalid_parameter_value';
    end if;
    v_cutoff := now() - make_interval(days => p_retention_days);
    perform dlq.create_archive_partitions();
    commit;
    loop
        -- One statement, so that what it deletes is what it archives.
        execute format('
            with old as materialized (
                select id from dlq.dlq_messages
                where status in (''RESOLVED'', ''DEAD'') and updated_at < $1
                limit $2 for update skip locked
            ),
            gone as (delete from dlq.dlq_messages m using old where m.id = old.id returning m.*),
            archived as (insert into dlq.dlq_messages_archive (%1$s) select %1$s from gone returning 1)
            select count(*) from archived', v_columns)
        into v_batch_count using v_cutoff, p_batch_size;
        v_archived_count := v_archived_count + v_batch_count;
        exit when v_batch_count = 0;
        commit;
    end loop;
    raise notice 'Archived % DLQ messages older than % days', v_archived_count, p_retention_days;
end;
$$`
