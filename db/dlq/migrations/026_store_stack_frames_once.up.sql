-- The frames of stack traces, each set once. Of one application's dead letters nearly all traces differ, but only in the
-- lines with messages; their frames repeat (infra/docs/decisions/044-stack-frames-stored-once.md).

set local lock_timeout = '5s';

create table dlq.dlq_stack_frames (
    -- A hash of the frames, so that a row finds its frames in a database that was restored, too.
    id            uuid        not null,
    -- The runs of lines that a row refers to, in their order.
    frames        text[]      not null,
    -- The first topic that brought them: a topic brings a bounded number.
    topic         text        not null,
    created_at    timestamptz not null default now(),
    -- Moved once an hour by those who use it.
    used_at       timestamptz not null default now(),
    -- When it was last found in a row, though nobody had stored one for long.
    found_at      timestamptz,

    constraint dlq_stack_frames_pkey primary key (id)
);
create index idx_dlq_stack_frames_topic on dlq.dlq_stack_frames (topic);

do $$
begin
    alter table dlq.dlq_stack_frames alter frames set compression lz4;
exception
    when feature_not_supported then null;
end;
$$;

-- The frames that belong into error_stacktrace, which then holds the other lines, and a line with a tab and "⋮" for each
-- run of frames. Null: error_stacktrace is whole.
alter table dlq.dlq_messages add column frames_id uuid;
alter table dlq.dlq_messages_archive add column frames_id uuid;

-- The stack trace as it came. A text that does not fit its frames was written by somebody since, and is whole.
create function dlq.whole_stack_trace(p_text text, p_frames_id uuid) returns text
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    v_frames text[];
    v_lines  text[];
begin
    if p_text is null or p_frames_id is null then
        return p_text;
    end if;
    select frames into v_frames from dlq.dlq_stack_frames where id = p_frames_id;
    v_lines := string_to_array(p_text, E'\t⋮\n');
    if v_frames is null or cardinality(v_lines) <> cardinality(v_frames) + 1 then
        return p_text;
    end if;
    return (select string_agg(line || coalesce(frame, ''), '' order by number)
            from unnest(v_lines, v_frames) with ordinality as part (line, frame, number));
end;
$$;

create function dlq.stack_trace(m dlq.dlq_messages) returns text
language sql stable parallel safe
as $$ select dlq.whole_stack_trace(m.error_stacktrace, m.frames_id) $$;

create function dlq.stack_trace(m dlq.dlq_messages_archive) returns text
language sql stable parallel safe
as $$ select dlq.whole_stack_trace(m.error_stacktrace, m.frames_id) $$;

-- Another stack trace ends the reference, whoever writes it: a service, a function, or a person. Headers that refer to
-- the former one get its text, from those that stood before, because a statement may have put the short text into them.
create function dlq.keep_stack_trace() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    new.record_headers := replace(old.record_headers::text, '{"column":"error_stacktrace"}',
        to_json(dlq.whole_stack_trace(old.error_stacktrace, old.frames_id))::text)::json;
    if new.frames_id is not distinct from old.frames_id then
        new.frames_id := null;
    end if;
    return new;
end;
$$;

create trigger trg_dlq_messages_stack_trace
    before update on dlq.dlq_messages
    for each row
    when (old.frames_id is not null and old.error_stacktrace is distinct from new.error_stacktrace)
    execute function dlq.keep_stack_trace();

-- Deletes frames that no message and no archived message uses. Those that nobody stored for p_unused are looked for, at
-- most p_limit, those that were found in a row again after p_again only. Reads both tables once if there are any.
-- An ingester that uses frames has moved their used_at within the last day (stack-frames.ts).
create function dlq.sweep_stack_frames(
    p_unused interval default '8 days', p_again interval default '30 days', p_limit int default 10000
) returns int
language plpgsql
as $$
declare
    v_ids   uuid[];
    v_found uuid[];
    v_swept int;
begin
    perform dlq.require_read_committed('dlq.sweep_stack_frames');
    select array_agg(id) into v_ids from (
        select id from dlq.dlq_stack_frames
        where used_at < now() - greatest(p_unused, interval '2 days') and (found_at is null or found_at < now() - p_again)
        order by used_at limit p_limit) old;
    if v_ids is null then
        return 0;
    end if;
    -- One statement, so that a message on its way into the archive or back is in one of the two.
    select coalesce(array_agg(distinct frames_id), '{}') into v_found from (
        select frames_id from dlq.dlq_messages where frames_id = any(v_ids)
        union all
        select frames_id from dlq.dlq_messages_archive where frames_id = any(v_ids)) used;
    update dlq.dlq_stack_frames set found_at = now() where id = any(v_found);
    delete from dlq.dlq_stack_frames
    where id = any(v_ids) and id <> all(v_found) and used_at < now() - greatest(p_unused, interval '2 days');
    get diagnostics v_swept = row_count;
    return v_swept;
end;
$$;

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

-- As in 022, with whole stack traces.
create or replace function dlq.claim_messages(
    p_topic       text,
    p_limit       int      default 50,
    p_lease       interval default '5 minutes',
    p_max_retries int      default null
) returns table (
    id uuid, lease_token uuid, lease_until timestamptz, original_topic text, payload jsonb,
    record_key bytea, record_value bytea, record_headers json, error_class text, error_message text, error_stacktrace text,
    retry_count int, max_retries int, created_at timestamptz
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_token  uuid := gen_random_uuid();
    v_policy record;
    v_paused text[] := (
        select coalesce(array_agg(topic), '{}') from dlq.dlq_topic_pauses
        where what = 'retries' and (until is null or until > clock_timestamp()));
begin
    perform dlq.require(p_topic is not null, 'p_topic must name a topic');
    perform dlq.require_sql_grant('pull', p_topic);
    perform dlq.require(p_limit between 1 and 1000, 'p_limit must be from 1 to 1000');
    perform dlq.require(p_lease between interval '1 second' and interval '1 day', 'p_lease must be from 1 second to 1 day');
    perform dlq.require(coalesce(p_max_retries, 1) between 1 and 1000, 'p_max_retries must be from 1 to 1000');
    select * into v_policy from dlq.policy_of(p_topic);
    if v_policy.delivery <> 'pull' then
        raise exception 'topic % is retried by the retriers: a policy of it in dlq.dlq_policies must say delivery = ''pull'' first', p_topic
            using errcode = 'object_not_in_prerequisite_state';
    end if;
    perform dlq.expire_leases(p_topic, 1000);
    if v_policy.paused or p_topic = any(v_paused) then
        return;
    end if;
    return query
        -- "materialized" keeps limit and row locks in one place, evaluated once.
        with due as materialized (
            select m.id
            from dlq.dlq_messages m
            where m.original_topic = p_topic and m.status = 'PENDING' and m.next_retry_at <= clock_timestamp()
              -- What a run holds is not due by itself; without this the index of due messages would not serve.
              and m.run_id is null
              and (m.dlq_topic is null or m.dlq_topic <> all(v_paused))
              and m.retry_count < coalesce(p_max_retries, m.max_retries)
            order by m.next_retry_at, m.id
            limit p_limit
            for update skip locked
        )
        update dlq.dlq_messages m set
            status = 'RETRYING', retry_count = m.retry_count + 1, max_retries = coalesce(p_max_retries, m.max_retries),
            last_retry_at = clock_timestamp(), lease_token = v_token, lease_until = clock_timestamp() + p_lease
        from due where m.id = due.id
        returning m.id, m.lease_token, m.lease_until, m.original_topic::text, m.payload, m.record_key, m.record_value, m.record_headers,
            m.error_class, m.error_message, dlq.stack_trace(m), m.retry_count, m.max_retries, m.created_at;
end;
$$;

-- As in 019; who reads messages reads their stack traces.
create or replace function dlq.apply_grants() returns void
language plpgsql
as $$
declare
    v_dead_letter constant text := 'dlq.dead_letter(text, jsonb, text, text, text, bytea, text, jsonb, text, interval, int)';
    v_pull constant text := 'dlq.claim_messages(text, int, interval, int), dlq.resolve_messages(uuid[], uuid),
        dlq.fail_message(uuid, uuid, text, text, text, interval), dlq.release_messages(uuid[], uuid),
        dlq.extend_leases(uuid[], uuid, interval),
        dlq.begin_pass(text, text, interval), dlq.extend_pass(text, text, interval), dlq.end_pass(text, text, interval)';
    v_role name;
begin
    revoke execute on all routines in schema dlq from public;
    -- Defaults of columns run as whoever inserts.
    grant execute on function dlq.new_message_id(), dlq.uuid_floor(timestamptz) to public;
    for v_role in select rolname from pg_roles where rolname in ('dlq_writer', 'dlq_reader', 'dlq_app', 'dlq_admin') loop
        execute format('grant usage on schema dlq to %I', v_role);
        case v_role
            when 'dlq_writer' then
                execute format('grant execute on function %s to dlq_writer', v_dead_letter);
            when 'dlq_app' then
                execute format('grant execute on function %s, %s to dlq_app', v_dead_letter, v_pull);
            when 'dlq_reader' then
                grant select on all tables in schema dlq to dlq_reader;
                grant execute on function dlq.whole_stack_trace(text, uuid), dlq.stack_trace(dlq.dlq_messages),
                    dlq.stack_trace(dlq.dlq_messages_archive) to dlq_reader;
            else
                grant select, insert, update, delete on all tables in schema dlq to dlq_admin;
                revoke update, delete on dlq.dlq_audit from dlq_admin;
                revoke insert, update, delete on dlq.dlq_audit_days from dlq_admin;
                grant usage on all sequences in schema dlq to dlq_admin;
                grant execute on all routines in schema dlq to dlq_admin;
                revoke execute on function dlq.forget_audit(timestamptz, int) from dlq_admin;
        end case;
    end loop;
end;
$$;

select dlq.apply_grants();
