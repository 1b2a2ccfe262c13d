-- PostgreSQL stores wide columns of rows above 2 KB apart (TOAST), until 2 KB of the row are left. From here on 1 KB is left.
-- A retry writes the row twice, but not what is stored apart. Existing rows stay as they are. Reading and writing go on.

set local lock_timeout = '5s';

-- As 002 made it, with the storage parameter, which PostgreSQL takes only for partitions, not for what they are partitions of.
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
    -- The archive's rows are written once.
    if p_table = 'dlq_messages' then
        execute format('alter table dlq.%I set (toast_tuple_target = 1024)', p_name);
    end if;
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
        execute format('alter table dlq.%I set (toast_tuple_target = 1024)', v_name);
    end loop;
end;
$$;
