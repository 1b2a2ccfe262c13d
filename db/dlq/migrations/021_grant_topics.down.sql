-- Loses who may use which topics by SQL: every login may use all again.
-- The functions as migration 014 has them.
create or replace function dlq.dead_letter(
    p_topic          text,
    p_payload        jsonb,
    p_error          text,
    p_error_class    text     default null,
    p_stack_trace    text     default null,
    p_value          bytea    default null,
    p_key            text     default null,
    p_headers        jsonb    default null,
    p_consumer_group text     default null,
    p_retry_after    interval default null,
    p_max_retries    int      default null
) returns uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_id uuid;
begin
    perform dlq.require(p_topic ~ '^[^[:cntrl:]]{1,255}$', 'p_topic must be 1 to 255 characters, none of them a control character');
    perform dlq.require(p_error is not null, 'p_error must say what went wrong');
    perform dlq.require(p_payload is null or p_value is null, 'give p_payload or p_value, not both');
    perform dlq.require(coalesce(octet_length(p_value), octet_length(p_payload::text), 0) <= 10485760, 'the value must be at most 10485760 bytes');
    perform dlq.require(coalesce(octet_length(p_key), 0) <= 65536, 'p_key must be at most 65536 bytes');
    perform dlq.require(p_headers is null or (jsonb_typeof(p_headers) = 'object' and octet_length(p_headers::text) <= 262144
        and not jsonb_path_exists(p_headers, '$.* ? (@.type() != "string" && @.type() != "null")')),
        'p_headers must be an object of at most 262144 bytes whose values are texts');
    perform dlq.require(coalesce(length(p_error_class), 0) <= 512, 'p_error_class must be at most 512 characters');
    perform dlq.require(coalesce(length(p_consumer_group), 0) <= 255, 'p_consumer_group must be at most 255 characters');
    perform dlq.require(coalesce(p_retry_after, '0') between interval '0' and interval '366 days', 'p_retry_after must be from 0 to 366 days');
    perform dlq.require(coalesce(p_max_retries, 1) between 1 and 1000, 'p_max_retries must be from 1 to 1000');

    -- Where no service has made this month's partition ahead, a dead letter must not be what fails.
    perform dlq.create_message_partition(clock_timestamp());
    insert into dlq.dlq_messages (
        original_topic, original_topic_source, payload, record_value, record_key, record_headers,
        error_message, error_class, error_stacktrace, consumer_group, order_key, max_retries, next_retry_at)
    values (
        p_topic, 'caller', p_payload,
        -- With headers it is a record, whose value is bytes; without, the payload is sent as it is.
        case when p_headers is not null then coalesce(p_value, convert_to(p_payload::text, 'UTF8')) else p_value end,
        convert_to(p_key, 'UTF8'),
        case when p_headers is not null or p_value is not null then
            (select coalesce(json_agg(json_build_array(key, value)), '[]') from jsonb_each_text(coalesce(p_headers, '{}'))) end,
        left(p_error, 65536), p_error_class, left(p_stack_trace, 1048576), p_consumer_group,
        -- Whatever the policies say: those of the services' files are not known here.
        ('x' || encode(substring(sha256(convert_to(p_key, 'UTF8')) for 8), 'hex'))::bit(64)::bigint,
        coalesce(p_max_retries, (select max_retries from dlq.policy_of(p_topic))),
        case when p_retry_after is null then dlq.next_retry_at(p_topic, 0) else clock_timestamp() + p_retry_after end)
    returning id into v_id;
    return v_id;
end;
$$;

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
begin
    perform dlq.require(p_topic is not null, 'p_topic must name a topic');
    perform dlq.require(p_limit between 1 and 1000, 'p_limit must be from 1 to 1000');
    perform dlq.require(p_lease between interval '1 second' and interval '1 day', 'p_lease must be from 1 second to 1 day');
    perform dlq.require(coalesce(p_max_retries, 1) between 1 and 1000, 'p_max_retries must be from 1 to 1000');
    select * into v_policy from dlq.policy_of(p_topic);
    if v_policy.delivery <> 'pull' then
        raise exception 'topic % is retried by the retriers: a policy of it in dlq.dlq_policies must say delivery = ''pull'' first', p_topic
            using errcode = 'object_not_in_prerequisite_state';
    end if;
    perform dlq.expire_leases(p_topic, 1000);
    if v_policy.paused then
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
            m.error_class, m.error_message, m.error_stacktrace, m.retry_count, m.max_retries, m.created_at;
end;
$$;

create or replace function dlq.resolve_messages(p_ids uuid[], p_token uuid) returns setof uuid
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
    select dlq.require(cardinality(p_ids) <= 1000, 'p_ids must be at most 1000 ids');
    with held as materialized (
        select id, retry_count, last_retry_at from dlq.dlq_messages
        where id = any(p_ids) and lease_token = p_token and status = 'RETRYING' and lease_slot is null
        order by id
        for update
    ),
    noted as (
        insert into dlq.dlq_attempts (message_id, number, attempt_id, actor, outcome, started_at, settled_at)
        select id, retry_count, dlq.attempt_id(id, retry_count), session_user, 'resolved', last_retry_at, now() from held order by id
        on conflict (message_id, number) do update set outcome = excluded.outcome, settled_at = excluded.settled_at
    )
    update dlq.dlq_messages m set
        status = 'RESOLVED', next_retry_at = null, retry_requested = false, lease_token = null, lease_until = null
    from held where m.id = held.id
    returning m.id
$$;

create or replace function dlq.fail_message(
    p_id          uuid,
    p_token       uuid,
    p_error       text,
    p_error_class text     default null,
    p_stack_trace text     default null,
    p_retry_after interval default null
) returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_status text;
begin
    perform dlq.require(p_error is not null, 'p_error must say what went wrong');
    perform dlq.require(coalesce(length(p_error_class), 0) <= 512, 'p_error_class must be at most 512 characters');
    perform dlq.require(coalesce(p_retry_after, '0') between interval '0' and interval '366 days', 'p_retry_after must be from 0 to 366 days');
    with failed as (
        update dlq.dlq_messages m set
            status = case when m.retry_count >= m.max_retries then 'DEAD' else 'PENDING' end,
            next_retry_at = case when m.retry_count >= m.max_retries then null
                                 when p_retry_after is not null then clock_timestamp() + p_retry_after
                                 else dlq.next_retry_at(m.original_topic, m.retry_count) end,
            error_message = left(p_error, 65536), error_class = coalesce(p_error_class, m.error_class),
            -- Another error may belong to another group; a retrier finds it.
            group_id = case when m.error_message = left(p_error, 65536) and m.error_class is not distinct from coalesce(p_error_class, m.error_class)
                then m.group_id end,
            -- The stored headers may refer to the column (packages/dlq-core/src/header-json.ts).
            record_headers = case when p_stack_trace is null or m.error_stacktrace is null then m.record_headers
                else replace(m.record_headers::text, '{"column":"error_stacktrace"}', to_json(m.error_stacktrace)::text)::json end,
            error_stacktrace = coalesce(left(p_stack_trace, 1048576), m.error_stacktrace),
            failure_count = m.failure_count + 1, last_failed_at = now(),
            retry_requested = false, lease_token = null, lease_until = null
        where m.id = p_id and m.lease_token = p_token and m.status = 'RETRYING' and m.lease_slot is null
        returning m.id, m.status, m.retry_count, m.last_retry_at
    ),
    noted as (
        insert into dlq.dlq_attempts (message_id, number, attempt_id, actor, outcome, error, started_at, settled_at)
        select id, retry_count, dlq.attempt_id(id, retry_count), session_user, 'failed', left(p_error, 65536), last_retry_at, now()
        from failed
        on conflict (message_id, number) do update set outcome = excluded.outcome, error = excluded.error, settled_at = excluded.settled_at
    )
    select status into v_status from failed;
    return v_status;
end;
$$;

create or replace function dlq.release_messages(p_ids uuid[], p_token uuid) returns setof uuid
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
    update dlq.dlq_messages m set
        status = 'PENDING', retry_count = m.retry_count - 1, next_retry_at = clock_timestamp(), lease_token = null, lease_until = null
    where m.id = any(p_ids) and m.lease_token = p_token and m.status = 'RETRYING' and m.lease_slot is null
    returning m.id
$$;

create or replace function dlq.extend_leases(p_ids uuid[], p_token uuid, p_lease interval) returns setof uuid
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
    select dlq.require(p_lease between interval '1 second' and interval '1 day', 'p_lease must be from 1 second to 1 day');
    update dlq.dlq_messages m set lease_until = clock_timestamp() + p_lease
    where m.id = any(p_ids) and m.lease_token = p_token and m.status = 'RETRYING' and m.lease_slot is null
    returning m.id
$$;

create or replace function dlq.begin_pass(p_topic text, p_by text, p_at_most interval) returns boolean
language sql security definer
set search_path = pg_catalog, pg_temp
as $$ select dlq.try_lock('pass ' || p_topic, p_by, p_at_most) $$;

create or replace function dlq.extend_pass(p_topic text, p_by text, p_at_most interval) returns boolean
language sql security definer
set search_path = pg_catalog, pg_temp
as $$ select dlq.extend_lock('pass ' || p_topic, p_by, p_at_most) $$;

create or replace function dlq.end_pass(p_topic text, p_by text, p_at_least interval default '0') returns void
language sql security definer
set search_path = pg_catalog, pg_temp
as $$ select dlq.release_lock('pass ' || p_topic, p_by, p_at_least) $$;

drop function if exists dlq.require_lease_grant(uuid[], uuid);
drop function if exists dlq.require_sql_grant(text, text);
drop function if exists dlq.sql_grants_of_session();
drop table if exists dlq.dlq_sql_grants;
drop function if exists dlq.require_role();
