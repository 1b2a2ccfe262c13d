-- Where a server, a database or a role has synchronous_commit = off, PostgreSQL says that a transaction is committed before
-- it is on disk, and forgets it if it crashes within the next moments. A claim that it forgot had been published by then:
-- the message was due again, and was sent twice. So a transaction that changes a slot or a message, or that a person was
-- told of, waits for the disk, whoever makes it. What else the setting says (local, remote_apply) stays as it is.

-- After this time others go on, and the migration is run again.
set local lock_timeout = '800ms';

create function dlq.await_commit() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    -- Until the transaction ends.
    perform set_config('synchronous_commit', 'on', true);
    return null;
end;
$$;

-- Asking costs less than a call of the function. Statements that name a partition have its triggers alone; partitions that
-- are made later take over the triggers of their table.
do $do$
declare
    v_table text;
    v_partition text;
    v_events text;
begin
    for v_table, v_partition, v_events in
        values ('dlq_slots', 'dlq_slots', 'insert or update'), ('dlq_audit', 'dlq_audit', 'insert')
        union all
        select 'dlq_messages', relname::text, 'insert or update or delete'
        from pg_partition_tree('dlq.dlq_messages') join pg_class on pg_class.oid = relid
    loop
        execute format('create trigger %I before %s on dlq.%I for each statement
            when (current_setting(''synchronous_commit'') = ''off'') execute function dlq.await_commit()',
            'trg_' || v_table || '_await_commit', v_events, v_partition);
    end loop;
end;
$do$;
