-- The indexes put entries together again, also those that are there: each page when it is full.

set local lock_timeout = '800ms';

-- As 053 made it.
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
    return true;
end;
$$;

do $$
declare
    v_index regclass;
begin
    for v_index in
        select indexrelid from pg_index join pg_class on pg_class.oid = indexrelid
        where indrelid in (select inhrelid from pg_inherits where inhparent = 'dlq.dlq_messages'::regclass)
          and 'deduplicate_items=off' = any(reloptions)
        order by 1
    loop
        execute format('alter index %s reset (deduplicate_items)', v_index);
    end loop;
end;
$$;

drop function dlq.leave_entries_apart(regclass);
