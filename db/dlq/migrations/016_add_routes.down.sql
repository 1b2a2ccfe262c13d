-- Loses who may speak for whom (dlq_routes), which messages stand for the same record (dlq_siblings, related_to), and
-- which messages were held (held_by_route). Those stay unscheduled.
set local lock_timeout = '5s';
drop table if exists dlq.dlq_siblings;
drop table if exists dlq.dlq_routes;
alter table dlq.dlq_messages drop column if exists related_to, drop column if exists held_by_route;
alter table dlq.dlq_messages_archive drop column if exists related_to, drop column if exists held_by_route;

do $outer$
declare
    v_messages text := (
        select string_agg(quote_ident(attname), ', ' order by attnum) from pg_attribute
        where attrelid = 'dlq.dlq_messages'::regclass and attnum > 0 and not attisdropped);
    v_attempts text := (
        select string_agg(quote_ident(attname), ', ' order by attnum) from pg_attribute
        where attrelid = 'dlq.dlq_attempts'::regclass and attnum > 0 and not attisdropped);
    -- What comes back was touched: else the next night would take it away again.
    v_restored text := regexp_replace(v_messages, '\mupdated_at\M', 'now()');
begin
    execute format($function$
create or replace function dlq.archive_messages(p_ids uuid[], p_before timestamptz default 'infinity', p_now timestamptz default now()) returns int
language sql
as $body$
    -- One statement, so that a message is in exactly one of the tables at any time. "lateral", because each id is
    -- then looked up in its own partition; all else is asked again under the lock.
    with ids as materialized (
        select m.id
        from unnest(p_ids) as wanted (id)
        cross join lateral (
            select id from dlq.dlq_messages
            where id = wanted.id and status in ('RESOLVED', 'DEAD') and updated_at < p_before
            for update skip locked
        ) m
    ),
    -- The ids once more, because a join alone may read whole tables; and their bounds, because of a list of ids
    -- PostgreSQL does not see which partitions it touches.
    gone as (
        delete from dlq.dlq_messages m using ids
        where m.id = ids.id and m.id = any(p_ids)
          and m.id >= (select id from ids order by id limit 1) and m.id <= (select id from ids order by id desc limit 1)
        returning m.*
    ),
    gone_attempts as (
        delete from dlq.dlq_attempts a using ids
        where a.message_id = ids.id and a.message_id = any(p_ids)
        returning a.*
    ),
    archived_attempts as (
        insert into dlq.dlq_attempts_archive (%2$s, archived_at) select %2$s, p_now from gone_attempts
    ),
    archived as (
        insert into dlq.dlq_messages_archive (%1$s, archived_at) select %1$s, p_now from gone
        returning 1
    )
    select count(*)::int from archived
$body$
$function$, v_messages, v_attempts);

    execute format($function$
create or replace function dlq.restore_messages(p_ids uuid[]) returns setof uuid
language plpgsql
as $body$
begin
    -- Their months may have been empty, and dropped.
    perform dlq.ensure_message_partition(id) from dlq.dlq_messages_archive where id = any(p_ids);
    return query
    with gone as (
        delete from dlq.dlq_messages_archive where id = any(p_ids)
        returning *
    ),
    gone_attempts as (
        delete from dlq.dlq_attempts_archive where message_id = any(p_ids)
        returning *
    ),
    restored_attempts as (
        -- "do nothing": a dead letter of the archived message may just have written one anew.
        insert into dlq.dlq_attempts (%2$s) select %2$s from gone_attempts
        on conflict (message_id, number) do nothing
    )
    insert into dlq.dlq_messages (%1$s) select %3$s from gone
    returning id;
end;
$body$
$function$, v_messages, v_attempts, v_restored);
end;
$outer$;

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
        select substring(pg_get_expr(relpartbound, pg_class.oid) from 'TO \(''(.+)''\)')::timestamptz as until
    ) bound
    where inhparent = 'dlq.dlq_messages_archive'::regclass and until <= p_before
    order by until limit 1;
    if v_suffix is not null then
        -- What people edited goes with the message. Edits are few: each is looked up, and not the archive read.
        execute format('delete from dlq.dlq_message_edits e where exists (select from dlq.%I m where m.id = e.message_id)',
            'dlq_messages_archive_' || v_suffix);
        execute format('drop table if exists dlq.%I, dlq.%I',
            'dlq_messages_archive_' || v_suffix, 'dlq_attempts_archive_' || v_suffix);
    end if;
    return v_suffix;
end;
$$;
