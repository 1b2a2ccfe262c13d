-- Loses which roles the rows of dlq_sql_grants mean once these are renamed. A partition that has another name, because a
-- detached table had its own, keeps it.

set local lock_timeout = '800ms';

-- Headers whose template has a NUL are written whole: the former dlq.whole_headers, and with it the way back of 050, fails on
-- them. Ingesters make no such templates any more, so most databases have none, and no message is read here. Nobody has changed
-- the messages: they keep their updated_at.
do $$
declare
    v_table regclass;
    v_is_on boolean;
    v_ids   uuid[] := array(select id from dlq.dlq_stack_frames where position(E'\\u0000' in headers::text) > 0);
begin
    if v_ids = '{}' then
        return;
    end if;
    foreach v_is_on in array array[false, true] loop
        for v_table in
            select 'dlq.dlq_messages'::regclass
            union all
            select inhrelid from pg_inherits where inhparent = 'dlq.dlq_messages'::regclass
        loop
            execute format('alter table %s %s trigger trg_dlq_messages_updated_at',
                v_table, case when v_is_on then 'enable' else 'disable' end);
        end loop;
        if not v_is_on then
            update dlq.dlq_messages m set record_headers = dlq.record_headers(m) where frames_id = any(v_ids);
        end if;
    end loop;
    update dlq.dlq_messages_archive m set record_headers = dlq.record_headers(m) where frames_id = any(v_ids);
end;
$$;

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

create or replace function dlq.message_partitions() returns table (name text, from_id uuid, until_id uuid)
language sql stable
as $$
    -- Materialized: else a caller's condition may be tested on every table before the join, and the bounds of other
    -- tables are no UUIDs.
    with partition as materialized (
        select relname, pg_get_expr(relpartbound, pg_class.oid) as bound
        from pg_inherits join pg_class on pg_class.oid = inhrelid
        where inhparent = 'dlq.dlq_messages'::regclass
    )
    select relname::text,
           coalesce(substring(bound from 'FROM \(''([^'']+)''\)')::uuid, '00000000-0000-0000-0000-000000000000'),
           substring(bound from 'TO \(''([^'']+)''\)')::uuid
    from partition
$$;

create or replace function dlq.drop_archived_quarter(p_before timestamptz) returns text
language plpgsql
set lock_timeout = '500ms'
as $$
declare
    v_suffix text;
begin
    select substring(relname from 'dlq_messages_archive_(.*)') into v_suffix
    from pg_inherits join pg_class on pg_class.oid = inhrelid
    cross join lateral (
        -- A time: the plan may ask the other tables' partitions too, whose bounds are ids.
        select substring(pg_get_expr(relpartbound, pg_class.oid) from 'TO \(''(\d{4,}-\d\d-\d\d .+)''\)')::timestamptz as until
    ) bound
    where inhparent = 'dlq.dlq_messages_archive'::regclass and until <= p_before
    order by until limit 1;
    if v_suffix is not null then
        -- What people edited goes with the message. Edits are few: each is looked up, and not the archive read.
        execute format('delete from dlq.dlq_message_origins e where exists (select from dlq.%I m where m.id = e.message_id)',
            'dlq_messages_archive_' || v_suffix);
        execute format('delete from dlq.dlq_message_edits e where exists (select from dlq.%I m where m.id = e.message_id)',
            'dlq_messages_archive_' || v_suffix);
        execute format('delete from dlq.dlq_siblings s where exists (select from dlq.%I m where m.id = s.message_id)',
            'dlq_messages_archive_' || v_suffix);
        execute format('drop table if exists dlq.%I, dlq.%I',
            'dlq_messages_archive_' || v_suffix, 'dlq_attempts_archive_' || v_suffix);
    end if;
    return v_suffix;
end;
$$;

create or replace function dlq.require_sql_grant(p_verb text, p_topic text) returns void
language plpgsql stable
as $$
declare
    v_is_limited boolean;
    v_may        boolean;
begin
    select count(*) > 0,
           coalesce(bool_or(verb = p_verb and p_topic like
               replace(replace(replace(replace(replace(topic_glob, '\', '\\'), '%', '\%'), '_', '\_'), '*', '%'), '?', '_')), false)
    into v_is_limited, v_may
    from dlq.sql_grants_of_session();
    if v_is_limited and not v_may then
        raise exception '% may not % topic %: no row of dlq.dlq_sql_grants says so', session_user,
            case p_verb when 'pull' then 'pull' else 'dead-letter for' end, p_topic
            using errcode = 'insufficient_privilege';
    end if;
end;
$$;

create or replace function dlq.sql_grants_of_session() returns setof dlq.dlq_sql_grants
language sql stable
as $$
    select g.*
    from dlq.dlq_sql_grants g
    join pg_catalog.pg_roles r on r.rolname = g.role_name
    where pg_has_role(session_user, r.oid, 'member')
      and not pg_has_role(session_user, (select nspowner from pg_catalog.pg_namespace where nspname = 'dlq'), 'member')
$$;

create or replace function dlq.require_role() returns trigger
language plpgsql
as $$
begin
    if to_regrole(quote_ident(new.role_name)) is null then
        raise exception 'there is no role %', new.role_name using errcode = 'undefined_object';
    end if;
    return new;
end;
$$;

do $do$
begin
    execute replace(pg_get_functiondef('dlq.policy_of(text)'::regprocedure), $$'_', E'\\_'$$, $$'_', '\_'$$);
    execute replace(pg_get_functiondef('dlq.restore_messages(uuid[])'::regprocedure),
        $$    -- Their months may have been empty, and dropped. Once the table is locked, as for the rows, nobody drops one any
    -- more. Before that as well: the lock that makes a month should not be waited for with this one.
    perform dlq.ensure_message_partition(id) from dlq.dlq_messages_archive where id = any(p_ids);
    lock table only dlq.dlq_messages in row exclusive mode;
    perform dlq.ensure_message_partition(id) from dlq.dlq_messages_archive where id = any(p_ids);
$$,
        $$    -- Their months may have been empty, and dropped.
    perform dlq.ensure_message_partition(id) from dlq.dlq_messages_archive where id = any(p_ids);
$$);
end;
$do$;

alter table dlq.dlq_sql_grants
    drop column role_id,
    drop column server_id;
drop function dlq.server_id();

select dlq.apply_grants();
