-- Three indexes give up what a retry pays for and hardly gets: entries that are the same are put together ("deduplicated")
-- when a page is full. In these only versions of one row are the same, because they end with the message's id: a page of
-- keys was gone through again for every few entries. It was a tenth of what a retry took PostgreSQL.

-- After this time others go on, and the migration is run again.
set local lock_timeout = '800ms';

-- An option of a partitioned index cannot be set, and would not reach its partitions.
create function dlq.leave_entries_apart(p_partition regclass) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_index regclass;
begin
    for v_index in
        select i.indexrelid from pg_index i join pg_inherits on inhrelid = i.indexrelid
        where i.indrelid = p_partition and inhparent in (
            'dlq.idx_dlq_messages_record_key'::regclass, 'dlq.idx_dlq_messages_group_id'::regclass,
            'dlq.idx_dlq_messages_original_topic'::regclass)
        order by 1
    loop
        execute format('alter index %s set (deduplicate_items = off)', v_index);
    end loop;
end;
$$;

revoke execute on function dlq.leave_entries_apart(regclass) from public;

-- As 053 made it, with the indexes' option.
create or replace function dlq.add_partition(p_table text, p_name text, p_from text, p_to text) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '1s'
as $$
declare
    v_table constant regclass := format('dlq.%I', p_table);
    v_name text := p_name;
    v_number int := 1;
    v_trigger text;
begin
    -- One maker at a time; whoever waited finds the partition made. Who finds it at once does not wait.
    for v_look in 1 .. 2 loop
        if exists (
            select from pg_inherits join pg_class on pg_class.oid = inhrelid
            where inhparent = v_table and starts_with(pg_get_expr(relpartbound, pg_class.oid), format('FOR VALUES FROM (%L) TO ', p_from))
        ) then
            return false;
        end if;
        perform pg_advisory_xact_lock(hashtextextended('dlq.add_partition ' || p_table, 0));
    end loop;
    while exists (select from pg_class where relnamespace = 'dlq'::regnamespace and relname = v_name) loop
        v_number := v_number + 1;
        v_name := p_name || '_' || v_number;
    end loop;
    execute format('create table dlq.%I (like dlq.%I including all)', v_name, p_table);
    -- The archive's rows are written once.
    if p_table = 'dlq_messages' then
        execute format('alter table dlq.%I set (toast_tuple_target = 1024)', v_name);
    end if;
    -- Attaching gives it the triggers of rows. Those of statements it needs for statements that name it.
    for v_trigger in
        select replace(pg_get_triggerdef(oid), format(' ON dlq.%I ', p_table), format(' ON dlq.%I ', v_name))
        from pg_trigger where tgrelid = v_table and not tgisinternal and tgtype & 1 = 0
    loop
        execute v_trigger;
    end loop;
    execute format('alter table dlq.%I attach partition dlq.%I for values from (%L) to (%L)', p_table, v_name, p_from, p_to);
    if p_table = 'dlq_messages' then
        perform dlq.leave_entries_apart(format('dlq.%I', v_name)::regclass);
    end if;
    return true;
end;
$$;

select dlq.leave_entries_apart(inhrelid) from pg_inherits where inhparent = 'dlq.dlq_messages'::regclass order by inhrelid;
