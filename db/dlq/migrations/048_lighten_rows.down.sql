-- New rows keep 2 KB again beside what is stored apart.

set local lock_timeout = '5s';

create or replace function dlq.add_partition(p_table text, p_name text, p_from text, p_to text) returns boolean
language plpgsql
set lock_timeout = '1s'
as $$
declare
    v_trigger text;
begin
    if to_regclass('dlq.' || p_name) is not null then
        return false;
    end if;
    -- One maker at a time; whoever waited finds the partition made.
    perform pg_advisory_xact_lock(hashtextextended('dlq.add_partition ' || p_table, 0));
    -- Asked of the table itself: to_regclass may answer from this session's cache, which knows nothing of the wait.
    if exists (select from pg_class where relnamespace = 'dlq'::regnamespace and relname = p_name) then
        return false;
    end if;
    execute format('create table dlq.%I (like dlq.%I including all)', p_name, p_table);
    -- Attaching gives it the triggers of rows. Those of statements it needs for statements that name it.
    for v_trigger in
        select replace(pg_get_triggerdef(oid), format(' ON dlq.%I ', p_table), format(' ON dlq.%I ', p_name))
        from pg_trigger where tgrelid = format('dlq.%I', p_table)::regclass and not tgisinternal and tgtype & 1 = 0
    loop
        execute v_trigger;
    end loop;
    execute format('alter table dlq.%I attach partition dlq.%I for values from (%L) to (%L)', p_table, p_name, p_from, p_to);
    return true;
end;
$$;

do $$
declare
    v_name text;
begin
    for v_name in select name from dlq.message_partitions() loop
        execute format('alter table dlq.%I reset (toast_tuple_target)', v_name);
    end loop;
end;
$$;
