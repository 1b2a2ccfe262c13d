-- What administrators do by hand, and the settings of applications' sessions, lift no limit and stop nothing: a role with
-- grants is renamed, a month is detached and stays where it was, a session has standard_conforming_strings off.

-- After this time others go on, and the migration is run again.
set local lock_timeout = '800ms';

-- As 048 made it, but a partition is known by where it begins, and not by its name: a table that was detached by hand keeps
-- the name, and with it no record of that month could be stored.
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

-- Here and below, backslashes stand in E'…', which means the same whatever standard_conforming_strings is.
create or replace function dlq.message_partitions() returns table (name text, from_id uuid, until_id uuid)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    -- Materialized: else a caller's condition may be tested on every table before the join, and the bounds of other
    -- tables are no UUIDs.
    with partition as materialized (
        select relname, pg_get_expr(relpartbound, pg_class.oid) as bound
        from pg_inherits join pg_class on pg_class.oid = inhrelid
        where inhparent = 'dlq.dlq_messages'::regclass
    )
    select relname::text,
           coalesce(substring(bound from E'FROM \\(''([^'']+)''\\)')::uuid, '00000000-0000-0000-0000-000000000000'),
           substring(bound from E'TO \\(''([^'']+)''\\)')::uuid
    from partition
$$;

-- The two partitions of a quarter are found by their bounds: their names may differ, and a detached table may have one.
create or replace function dlq.drop_archived_quarter(p_before timestamptz) returns text
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '500ms'
as $$
declare
    v_messages text;
    v_attempts text;
begin
    select relname, pair.attempts into v_messages, v_attempts
    from pg_inherits join pg_class on pg_class.oid = inhrelid
    cross join lateral (select pg_get_expr(relpartbound, pg_class.oid) as text) bound
    cross join lateral (
        -- A time: the plan may ask the other tables' partitions too, whose bounds are ids.
        select substring(bound.text from E'TO \\(''(\\d{4,}-\\d\\d-\\d\\d .+)''\\)')::timestamptz as until
    ) bounded
    left join lateral (
        select a.relname as attempts from pg_inherits i join pg_class a on a.oid = i.inhrelid
        where i.inhparent = 'dlq.dlq_attempts_archive'::regclass and pg_get_expr(a.relpartbound, a.oid) = bound.text
    ) pair on true
    where inhparent = 'dlq.dlq_messages_archive'::regclass and until <= p_before
    order by until limit 1;
    if v_messages is not null then
        -- What people edited goes with the message. Edits are few: each is looked up, and not the archive read.
        execute format('delete from dlq.dlq_message_origins e where exists (select from dlq.%I m where m.id = e.message_id)', v_messages);
        execute format('delete from dlq.dlq_message_edits e where exists (select from dlq.%I m where m.id = e.message_id)', v_messages);
        execute format('delete from dlq.dlq_siblings s where exists (select from dlq.%I m where m.id = s.message_id)', v_messages);
        -- In one statement, so that both are locked before either is gone.
        execute format('drop table dlq.%I', v_messages) || coalesce(format(', dlq.%I', v_attempts), '');
    end if;
    return substring(v_messages from 'dlq_messages_archive_(.*)');
end;
$$;

create or replace function dlq.require_sql_grant(p_verb text, p_topic text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_is_limited boolean;
    v_may        boolean;
begin
    select count(*) > 0,
           coalesce(bool_or(verb = p_verb and p_topic like
               replace(replace(replace(replace(replace(topic_glob, E'\\', E'\\\\'), '%', E'\\%'), '_', E'\\_'), '*', '%'), '?', '_')), false)
    into v_is_limited, v_may
    from dlq.sql_grants_of_session();
    if v_is_limited and not v_may then
        raise exception '% may not % topic %: no row of dlq.dlq_sql_grants says so', session_user,
            case p_verb when 'pull' then 'pull' else 'dead-letter for' end, p_topic
            using errcode = 'insufficient_privilege';
    end if;
end;
$$;

-- Whose roles these are: another server, to which this database is restored, numbers its roles otherwise. 0 where this
-- server does not say.
create function dlq.server_id() returns bigint
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return (select system_identifier from pg_control_system());
exception
    when insufficient_privilege then return 0;
end;
$$;

-- A misspelled name would limit nobody. The role's number is stored too: it stays when the role is renamed.
create or replace function dlq.require_role() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if to_regrole(quote_ident(new.role_name)) is null then
        raise exception 'there is no role %', new.role_name using errcode = 'undefined_object';
    end if;
    new.role_id := to_regrole(quote_ident(new.role_name));
    new.server_id := dlq.server_id();
    return new;
end;
$$;

-- Only these words of the two functions change.
do $do$
begin
    execute replace(pg_get_functiondef('dlq.policy_of(text)'::regprocedure), $$'_', '\_'$$, $$'_', E'\\_'$$);
    execute replace(pg_get_functiondef('dlq.restore_messages(uuid[])'::regprocedure),
        $$    -- Their months may have been empty, and dropped.
    perform dlq.ensure_message_partition(id) from dlq.dlq_messages_archive where id = any(p_ids);
$$,
        $$    -- Their months may have been empty, and dropped. Once the table is locked, as for the rows, nobody drops one any
    -- more. Before that as well: the lock that makes a month should not be waited for with this one.
    perform dlq.ensure_message_partition(id) from dlq.dlq_messages_archive where id = any(p_ids);
    lock table only dlq.dlq_messages in row exclusive mode;
    perform dlq.ensure_message_partition(id) from dlq.dlq_messages_archive where id = any(p_ids);
$$);
end;
$do$;

-- Last, because who dead-letters waits for it.
alter table dlq.dlq_sql_grants
    add column role_id   oid,
    add column server_id bigint;
update dlq.dlq_sql_grants g set role_id = r.oid, server_id = dlq.server_id()
from pg_catalog.pg_roles r where r.rolname = g.role_name;

-- The rows that name the session's login, or a role that it may act as, by its present name or by the one that it had when
-- the row was written. None for those who may act as the owner.
create or replace function dlq.sql_grants_of_session() returns setof dlq.dlq_sql_grants
language sql stable
set search_path = pg_catalog, pg_temp
as $$
    select g.*
    from dlq.dlq_sql_grants g
    where not pg_has_role(session_user, (select nspowner from pg_namespace where nspname = 'dlq'), 'member')
      -- Each a look-up, because a server may have many roles.
      and ((select pg_has_role(session_user, r.oid, 'member') from pg_roles r where r.rolname = g.role_name)
           or (select pg_has_role(session_user, r.oid, 'member') and g.server_id = dlq.server_id() from pg_roles r where r.oid = g.role_id))
$$;

select dlq.apply_grants();
