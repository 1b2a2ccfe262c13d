-- Who executes jobs, what the cron jobs did, and what keeps the tables small: archived messages take their attempts along,
-- expired quarters of the archive and empty months of the messages are dropped.

-- One row per pool of graphile-worker that lives; its id is what jobs are locked by. graphile-worker itself
-- gives a dead worker's jobs back after four hours; with this table it takes seconds.
create table dlq.dlq_workers (
    id      text        not null,
    -- The process, as in dlq_retriers.
    retrier text        not null,
    seen_at timestamptz not null default now(),

    constraint dlq_workers_pkey primary key (id)
) with (fillfactor = 20);

-- The cron jobs that retriers run, written by them.
create table dlq.dlq_cron_jobs (
    name      text        not null,
    -- As in the configuration; null where it is off and runs only when somebody asks.
    schedule  text,
    next_tick timestamptz,

    constraint dlq_cron_jobs_pkey primary key (name)
);

-- One row per tick, whichever retrier ran it; also per run that somebody asked for. Kept for a week.
create table dlq.dlq_cron_runs (
    job          text        not null,
    -- When it was due; of a run that somebody asked for, when they did.
    tick         timestamptz not null,
    -- Null: the timetable.
    requested_by text,
    retrier      text,
    attempts     int         not null default 0,
    started_at   timestamptz,
    finished_at  timestamptz,
    -- Null until it has ended. Of a run that failed and will be tried again, only the error is here.
    outcome      text,
    result       jsonb,
    error        text,

    constraint dlq_cron_runs_pkey primary key (job, tick),
    constraint chk_dlq_cron_runs_outcome check (outcome in ('done', 'failed'))
);

-- What the archive may take: the settled messages of a topic, untouched for longest first.
create index idx_dlq_messages_settled on dlq.dlq_messages (original_topic, updated_at, id)
    where status in ('RESOLVED', 'DEAD');

-- The attempts of archived messages. Partitioned like the messages, so that both go with the same quarter.
create table dlq.dlq_attempts_archive (
    like dlq.dlq_attempts including defaults including constraints,
    archived_at timestamptz not null default now(),
    constraint dlq_attempts_archive_pkey primary key (message_id, number, archived_at)
) partition by range (archived_at);

-- A message may come back long after it was archived: see idx_dlq_attempts_target.
create index idx_dlq_attempts_archive_target on dlq.dlq_attempts_archive (target_topic, target_partition, target_offset)
    where target_offset is not null;

do $$
begin
    execute format('create table dlq.dlq_attempts_archive_first partition of dlq.dlq_attempts_archive for values from (minvalue) to (%L)',
        date_trunc('quarter', now(), 'UTC'));
    perform dlq.create_archive_partitions();
end;
$$;

-- dlq.archive_messages(ids, before, now): moves those of the messages that are RESOLVED or DEAD, and were not touched since
-- p_before, into the archive with their attempts. Returns how many. What somebody holds locked stays.
-- The columns are taken from the tables, once, here: a migration that adds one makes these functions anew.
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
create function dlq.archive_messages(p_ids uuid[], p_before timestamptz default 'infinity', p_now timestamptz default now()) returns int
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
create function dlq.restore_messages(p_ids uuid[]) returns setof uuid
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

-- Drops the oldest quarter of the archive that ended by p_before, of messages and attempts. Returns its
-- name; null where there is none. Waits for locks half a second only, because others wait behind it.
create function dlq.drop_archived_quarter(p_before timestamptz) returns text
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

-- Drops the partition of a month if no message is in it. A record of that month that comes later makes it anew.
create function dlq.drop_empty_month(p_partition regclass) returns boolean
language plpgsql
set lock_timeout = '500ms'
as $$
declare
    v_has_rows boolean;
begin
    -- Pages that vacuum has not given back yet would be read under the lock that stops ingestion.
    if pg_relation_size(p_partition) > 1048576
        or not exists (select from pg_inherits where inhrelid = p_partition and inhparent = 'dlq.dlq_messages'::regclass) then
        return false;
    end if;
    -- The table before its partition, as whoever inserts locks them.
    lock table only dlq.dlq_messages in access exclusive mode;
    execute format('lock table %s in access exclusive mode', p_partition);
    execute format('select exists (select from %s)', p_partition) into v_has_rows;
    if not v_has_rows then
        execute format('drop table %s', p_partition);
    end if;
    return not v_has_rows;
end;
$$;
