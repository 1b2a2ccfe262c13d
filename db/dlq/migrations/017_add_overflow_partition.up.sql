-- What strangers send is bounded: a time far ahead makes no partition of its own, and a value may be too large to store.

set local lock_timeout = '5s';

-- The size of the record's value, where it was too large to store: record_value is null then, and nothing can be sent.
alter table dlq.dlq_messages add column unstored_value_bytes bigint;
alter table dlq.dlq_messages_archive add column unstored_value_bytes bigint;

-- The archive's functions name the columns of the tables: they are made again (012).
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


-- How often a job of graphile-worker was given back because its worker died: one that ends its worker is not tried for ever.
create table dlq.dlq_job_deaths (
    job_id  bigint      not null,
    deaths  int         not null,
    last_at timestamptz not null default now(),

    constraint dlq_job_deaths_pkey primary key (job_id)
);

-- One overflow partition, dlq_messages_last, holds everything behind the months that are made ahead; it is split as
-- time comes. Before, each month that a record named got a partition: 860 records made 743 partitions, and PostgreSQL had
-- no memory left for its locks.

-- When the id was made, as a UUIDv7 says it.
create function dlq.time_of_id(p_id uuid) returns timestamptz
language sql immutable strict parallel safe
as $$
    select to_timestamp(('x' || lpad(left(replace(p_id::text, '-', ''), 12), 16, '0'))::bit(64)::bigint / 1000.0)
$$;

-- The partitions of the messages with their bounds; until_id is null for the last one.
create function dlq.message_partitions() returns table (name text, from_id uuid, until_id uuid)
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

-- Makes the partition that p_id belongs to, unless it is there. Only old months may be missing, because they are dropped
-- when they are empty. One partition takes the whole gap around the id: so there are never more of them than gaps,
-- whatever times strangers send.
create or replace function dlq.ensure_message_partition(p_id uuid) returns boolean
language plpgsql
as $$
declare
    v_from uuid;
    v_until uuid;
begin
    if exists (select from dlq.message_partitions() where from_id <= p_id and (until_id is null or p_id < until_id)) then
        return false;
    end if;
    -- By "order by": PostgreSQL before 18 has no max() of UUIDs.
    select until_id into v_from from dlq.message_partitions() where until_id <= p_id order by until_id desc limit 1;
    select from_id into v_until from dlq.message_partitions() where from_id > p_id order by from_id limit 1;
    return dlq.add_partition('dlq_messages',
        'dlq_messages_' || to_char(dlq.time_of_id(v_from) at time zone 'UTC', 'YYYY_MM'), v_from::text, v_until::text);
end;
$$;

-- Makes the partition of the month that p_time lies in, unless another one holds it. Returns true if it made one.
create or replace function dlq.create_message_partition(p_time timestamptz) returns boolean
language plpgsql
as $$
declare
    v_month constant timestamp := date_trunc('month', p_time at time zone 'UTC');
    v_from constant uuid := dlq.uuid_floor(v_month at time zone 'UTC');
    v_until constant uuid := dlq.uuid_floor((v_month + interval '1 month') at time zone 'UTC');
begin
    if exists (select from dlq.message_partitions() where from_id < v_until and (until_id is null or v_from < until_id)) then
        return false;
    end if;
    return dlq.add_partition('dlq_messages', 'dlq_messages_' || to_char(v_month, 'YYYY_MM'), v_from::text, v_until::text);
end;
$$;

-- Where the overflow partition begins.
create function dlq.overflow_from() returns uuid
language sql stable
as $$
    select from_id from dlq.message_partitions() where name = 'dlq_messages_last'
$$;

-- Locks what changes the overflow partition's bounds: against makers of partitions, then against everybody.
-- The caller says first how long it waits.
create function dlq.lock_overflow() returns void
language plpgsql
as $$
begin
    -- As add_partition locks; in the other order the two would wait for each other.
    perform pg_advisory_xact_lock(hashtextextended('dlq.add_partition dlq_messages', 0));
    -- The parent before its partition, as whoever inserts locks them.
    lock table only dlq.dlq_messages in access exclusive mode;
    lock table dlq.dlq_messages_last in access exclusive mode;
end;
$$;

-- Takes the months from p_from to p_until out of the overflow partition, each into a partition of its own. One partition takes
-- all months before p_from, if there are messages of them: after years, or under a wrong clock, they may be hundreds.
-- Returns how many it made. Everybody waits meanwhile, because PostgreSQL reads what is left when it is attached again: a
-- few rows with wrong times.
-- An overflow partition above 256 MiB is left as it is; it works, and someone has to delete from it.
create function dlq.split_overflow(p_from timestamptz, p_until timestamptz) returns int
language plpgsql
set lock_timeout = '1s'
as $$
declare
    v_first constant uuid := dlq.uuid_floor(p_from);
    v_until constant uuid := dlq.uuid_floor(p_until);
    v_from uuid;
    v_next uuid;
    v_made int := 0;
begin
    if dlq.overflow_from() >= v_until then
        return 0;
    end if;
    if pg_relation_size('dlq.dlq_messages_last') > 268435456 then
        raise warning 'dlq.dlq_messages_last is too large to be split: delete the messages whose times are wrong';
        return 0;
    end if;
    perform dlq.lock_overflow();
    v_from := dlq.overflow_from();
    if v_from >= v_until then
        return 0;
    end if;
    alter table dlq.dlq_messages detach partition dlq.dlq_messages_last;
    if v_from < v_first and not exists (select from dlq.dlq_messages_last where id < v_first) then
        v_from := v_first;
    end if;
    while v_from < v_until loop
        v_next := case when v_from < v_first then v_first
            else dlq.uuid_floor((dlq.time_of_id(v_from) at time zone 'UTC' + interval '1 month') at time zone 'UTC') end;
        perform dlq.add_partition('dlq_messages',
            'dlq_messages_' || to_char(dlq.time_of_id(v_from) at time zone 'UTC', 'YYYY_MM'), v_from::text, v_next::text);
        -- Both statements count: what one takes away, the other adds.
        with gone as (
            delete from dlq.dlq_messages_last where id >= v_from and id < v_next returning *
        )
        insert into dlq.dlq_messages select * from gone;
        v_from := v_next;
        v_made := v_made + 1;
    end loop;
    execute format('alter table dlq.dlq_messages attach partition dlq.dlq_messages_last for values from (%L) to (maxvalue)', v_from);
    return v_made;
end;
$$;

-- Moves partitions from p_from on into the overflow partition: those that were made for single records before it began
-- there. The last ones first, at most fifty at a time, none above 16 MiB. Returns how many.
create function dlq.gather_overflow(p_from timestamptz) returns int
language plpgsql
set lock_timeout = '1s'
as $$
declare
    v_wanted constant uuid := dlq.uuid_floor(p_from);
    v_from uuid;
    v_name text;
    v_gathered int := 0;
begin
    if dlq.overflow_from() <= v_wanted then
        return 0;
    end if;
    perform dlq.lock_overflow();
    alter table dlq.dlq_messages detach partition dlq.dlq_messages_last;
    for v_name in
        select name from dlq.message_partitions() where from_id >= v_wanted order by from_id desc limit 50
    loop
        exit when pg_relation_size(format('dlq.%I', v_name)::regclass) > 16777216;
        execute format('alter table dlq.dlq_messages detach partition dlq.%I', v_name);
        execute format('with gone as (delete from dlq.%I returning *) insert into dlq.dlq_messages_last select * from gone', v_name);
        execute format('drop table dlq.%I', v_name);
        v_gathered := v_gathered + 1;
    end loop;
    select greatest(until_id, v_wanted) into v_from from dlq.message_partitions() order by until_id desc limit 1;
    execute format('alter table dlq.dlq_messages attach partition dlq.dlq_messages_last for values from (%L) to (maxvalue)', v_from);
    return v_gathered;
end;
$$;

-- Makes the partitions from p_now's month to p_months_ahead months later, and lets the overflow partition begin behind them.
-- Returns how many it made.
create or replace function dlq.create_message_partitions(p_months_ahead int default 3, p_now timestamptz default now()) returns int
language plpgsql
as $$
declare
    v_month constant timestamp := date_trunc('month', p_now at time zone 'UTC');
    v_behind constant timestamptz := (v_month + make_interval(months => p_months_ahead + 1)) at time zone 'UTC';
    v_made int;
begin
    perform dlq.gather_overflow(v_behind);
    v_made := dlq.split_overflow(v_month at time zone 'UTC', v_behind);
    for v_ahead in 0 .. p_months_ahead loop
        v_made := v_made + dlq.create_message_partition((v_month + make_interval(months => v_ahead)) at time zone 'UTC')::int;
    end loop;
    return v_made;
end;
$$;

-- The services do the same when they start.
do $$
begin
    perform dlq.create_message_partitions();
exception
    when lock_not_available then
        raise notice 'dlq.dlq_messages is in use; the services let the overflow partition begin earlier when they start';
end;
$$;
