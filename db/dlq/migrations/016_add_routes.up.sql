-- Who may speak for whom: which DLQ topic may send to which original topic, and which message a dead letter belongs to.

-- Waits for its locks a few seconds at most: whoever reads and writes messages waits behind it. Run it again then.
set local lock_timeout = '5s';

-- Both are constant defaults: no row is rewritten.
alter table dlq.dlq_messages
    -- The message that the dead letter claimed to be, where it was not believed, or whose record another group failed on.
    add column related_to    uuid,
    -- Its DLQ topic has not been allowed to send to its original topic: it is sent only if somebody forces it.
    add column held_by_route boolean not null default false;
alter table dlq.dlq_messages_archive
    add column related_to    uuid,
    add column held_by_route boolean not null default false;

create table dlq.dlq_routes (
    dlq_topic      text        not null,
    original_topic text        not null,
    -- by_name, by_mapping: the configuration allows it; approved, blocked: somebody has decided.
    state          text        not null,
    first_seen_at  timestamptz not null default now(),
    decided_at     timestamptz,
    decided_by     text,
    reason         text,
    -- When the state changed while messages may have been stored under the one before. Null: all messages follow it.
    applying_since timestamptz,

    constraint dlq_routes_pkey primary key (dlq_topic, original_topic),
    constraint chk_dlq_routes_state check (state in ('by_name', 'by_mapping', 'waiting', 'approved', 'blocked'))
);
create index idx_dlq_routes_original_topic on dlq.dlq_routes (original_topic);
-- What the ingesters read again every second.
create index idx_dlq_routes_decided_at on dlq.dlq_routes (decided_at) where decided_at is not null;

-- The messages that stand for one record, one per consumer group that failed on it.
create table dlq.dlq_siblings (
    -- The message whose retry the groups read. It is here itself, under its own group.
    root_id         uuid   not null,
    -- Without the suffix of a retry topic.
    consumer_group  text   not null,
    message_id      uuid   not null,
    -- The attempts that this group has failed on: a dead letter that is read again counts once.
    failed_attempts uuid[] not null default '{}',

    constraint dlq_siblings_pkey primary key (root_id, consumer_group)
);
create index idx_dlq_siblings_message_id on dlq.dlq_siblings (message_id);

-- As in 012, with the new columns. They are taken from the tables, once, here: a migration that adds one makes
-- these functions again.
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

-- As in 012; siblings go with their message.
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
