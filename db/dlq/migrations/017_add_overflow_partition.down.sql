-- Loses the sizes of values that were too large to store, and how often jobs ended their workers. Messages with times far
-- ahead get partitions by month again.

set local lock_timeout = '5s';

alter table dlq.dlq_messages drop column unstored_value_bytes;
alter table dlq.dlq_messages_archive drop column unstored_value_bytes;

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


drop table dlq.dlq_job_deaths;

drop function dlq.gather_overflow(timestamptz);
drop function dlq.split_overflow(timestamptz, timestamptz);

create or replace function dlq.create_message_partition(p_time timestamptz) returns boolean
language plpgsql
as $$
declare
    v_month timestamp := date_trunc('month', p_time at time zone 'UTC');
    v_first uuid;
begin
    -- Months that the first or the last partition holds have none of their own.
    select substring(pg_get_expr(relpartbound, oid) from 'TO \(''(.+)''\)')::uuid into v_first
    from pg_class where oid = to_regclass('dlq.dlq_messages_first');
    if p_time >= '2100-01-01 00:00:00+00' or dlq.uuid_floor(p_time) < v_first then
        return false;
    end if;
    return dlq.add_partition('dlq_messages', 'dlq_messages_' || to_char(v_month, 'YYYY_MM'),
        dlq.uuid_floor(v_month at time zone 'UTC')::text,
        dlq.uuid_floor((v_month + interval '1 month') at time zone 'UTC')::text);
end;
$$;

create or replace function dlq.create_message_partitions(p_months_ahead int default 3, p_now timestamptz default now()) returns int
language plpgsql
as $$
declare
    v_made int := 0;
begin
    for v_month in 0 .. p_months_ahead loop
        v_made := v_made + dlq.create_message_partition(p_now + make_interval(months => v_month))::int;
    end loop;
    return v_made;
end;
$$;

create or replace function dlq.ensure_message_partition(p_id uuid) returns boolean
language sql
as $$
    select dlq.create_message_partition(
        to_timestamp(('x' || lpad(left(replace(p_id::text, '-', ''), 12), 16, '0'))::bit(64)::bigint / 1000.0))
$$;

do $$
declare
    v_month timestamp;
begin
    perform dlq.lock_overflow();
    alter table dlq.dlq_messages detach partition dlq.dlq_messages_last;
    for v_month in
        select distinct date_trunc('month', dlq.time_of_id(id) at time zone 'UTC')
        from dlq.dlq_messages_last where id < dlq.uuid_floor('2100-01-01 00:00:00+00')
    loop
        perform dlq.create_message_partition(v_month at time zone 'UTC');
    end loop;
    with gone as (
        delete from dlq.dlq_messages_last where id < dlq.uuid_floor('2100-01-01 00:00:00+00') returning *
    )
    insert into dlq.dlq_messages select * from gone;
    execute format('alter table dlq.dlq_messages attach partition dlq.dlq_messages_last for values from (%L) to (maxvalue)',
        dlq.uuid_floor('2100-01-01 00:00:00+00'));
end;
$$;

drop function dlq.lock_overflow();
drop function dlq.overflow_from();
drop function dlq.message_partitions();
drop function dlq.time_of_id(uuid);
