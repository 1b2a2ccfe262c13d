-- What applications call when PostgreSQL is their queue, and what rows of plain SQL are scheduled by, as before, and two to
-- eight times as fast. A function in SQL that another one calls is parsed and planned for each call; one in PL/pgSQL once
-- in a session. "plan_cache_mode" keeps the plan where PostgreSQL would make a new one for a parameter that it thinks
-- matters.

create or replace function dlq.policy_of(
    p_topic text,
    out delivery text, out auto_retry boolean, out paused boolean, out max_retries int, out backoff text,
    out initial_delay interval, out multiplier numeric, out max_delay interval, out backoff_list interval[],
    out run_every interval
)
language plpgsql stable
as $$
declare
    v_row dlq.dlq_policies;
begin
    for v_row in
        select p.* from dlq.dlq_policies p
        where p_topic like replace(replace(replace(p.pattern, '_', E'\\_'), '*', '%'), '?', '_')
        order by length(p.pattern) - length(translate(p.pattern, '*?', '')), length(p.pattern) desc, p.pattern collate "C"
    loop
        delivery      := coalesce(delivery, v_row.delivery);
        auto_retry    := coalesce(auto_retry, v_row.auto_retry);
        paused        := coalesce(paused, v_row.paused);
        max_retries   := coalesce(max_retries, v_row.max_retries);
        backoff       := coalesce(backoff, v_row.backoff);
        initial_delay := coalesce(initial_delay, v_row.initial_delay);
        multiplier    := coalesce(multiplier, v_row.multiplier);
        max_delay     := coalesce(max_delay, v_row.max_delay);
        backoff_list  := coalesce(backoff_list, v_row.backoff_list);
        run_every     := coalesce(run_every, v_row.run_every);
    end loop;
    delivery      := coalesce(delivery, 'republish');
    auto_retry    := coalesce(auto_retry, true);
    paused        := coalesce(paused, false);
    max_retries   := coalesce(max_retries, 3);
    backoff       := coalesce(backoff, 'exponential');
    initial_delay := coalesce(initial_delay, interval '5 minutes');
    multiplier    := coalesce(multiplier, 4);
    max_delay     := coalesce(max_delay, interval '24 hours');
    run_every     := nullif(run_every, interval '0');
end;
$$;

create or replace function dlq.next_retry_at(p_topic text, p_retry_count int, p_now timestamptz default clock_timestamp()) returns timestamptz
language plpgsql volatile
as $$
declare
    v_policy record := dlq.policy_of(p_topic);
    v_at     timestamptz;
begin
    if not v_policy.auto_retry then
        return null;
    end if;
    v_at := p_now + case v_policy.backoff
        when 'fixed' then v_policy.initial_delay
        when 'list' then
            coalesce(v_policy.backoff_list[least(p_retry_count + 1, cardinality(v_policy.backoff_list))], v_policy.initial_delay)
        -- The power is bounded, because it might be too large for a number; the delay is bounded long before.
        else make_interval(secs => (0.1 + 0.9 * random()) * least(
            extract(epoch from v_policy.initial_delay)::float8 * v_policy.multiplier::float8 ^ least(p_retry_count, 100),
            extract(epoch from v_policy.max_delay)::float8))
    end;
    if v_policy.run_every is null then
        return v_at;
    end if;
    -- The next run after the wait, never the one that is on.
    return greatest(
        date_bin(v_policy.run_every, v_at - interval '1 microsecond', 'epoch'),
        date_bin(v_policy.run_every, p_now, 'epoch')) + v_policy.run_every;
end;
$$;

create or replace function dlq.resolve_messages(p_ids uuid[], p_token uuid) returns setof uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
begin
    perform dlq.require(cardinality(p_ids) <= 1000, 'p_ids must be at most 1000 ids');
    perform dlq.require_lease_grant(p_ids, p_token);
    return query
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
        returning m.id;
end;
$$;

create or replace function dlq.extend_leases(p_ids uuid[], p_token uuid, p_lease interval) returns setof uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
begin
    perform dlq.require(p_lease between interval '1 second' and interval '1 day', 'p_lease must be from 1 second to 1 day');
    perform dlq.require_lease_grant(p_ids, p_token);
    return query
        update dlq.dlq_messages m set lease_until = clock_timestamp() + p_lease
        where m.id = any(p_ids) and m.lease_token = p_token and m.status = 'RETRYING' and m.lease_slot is null
        returning m.id;
end;
$$;

create or replace function dlq.release_messages(p_ids uuid[], p_token uuid) returns setof uuid
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
begin
    perform dlq.require_lease_grant(p_ids, p_token);
    return query
        update dlq.dlq_messages m set
            status = 'PENDING', retry_count = m.retry_count - 1, next_retry_at = clock_timestamp(), lease_token = null, lease_until = null
        where m.id = any(p_ids) and m.lease_token = p_token and m.status = 'RETRYING' and m.lease_slot is null
        returning m.id;
end;
$$;

create or replace function dlq.expire_leases(p_topic text, p_limit int) returns int
language plpgsql
set plan_cache_mode = force_generic_plan
as $$
declare
    v_expired int;
begin
    with expired as materialized (
        select id, original_topic, retry_count, max_retries, last_retry_at
        from dlq.dlq_messages
        where lease_until < (select clock_timestamp()) and status = 'RETRYING' and lease_slot is null
          and (p_topic is null or original_topic = p_topic)
        order by lease_until
        limit p_limit
        for update skip locked
    ),
    noted as (
        insert into dlq.dlq_attempts (message_id, number, attempt_id, actor, outcome, error, started_at, settled_at)
        select id, retry_count, dlq.attempt_id(id, retry_count), session_user, 'failed',
               'its lease ran out: whoever claimed it died, or took too long', coalesce(last_retry_at, now()), now()
        from expired order by id
        on conflict (message_id, number) do update set outcome = excluded.outcome, error = excluded.error, settled_at = excluded.settled_at
    ),
    ended as (
        update dlq.dlq_messages m set
            status = case when e.retry_count >= e.max_retries then 'DEAD' else 'PENDING' end,
            next_retry_at = case when e.retry_count < e.max_retries then dlq.next_retry_at(e.original_topic, e.retry_count) end,
            retry_requested = false, lease_token = null, lease_until = null
        from expired e where m.id = e.id
        returning 1
    )
    select count(*)::int into v_expired from ended;
    return v_expired;
end;
$$;

create or replace function dlq.sql_grants_of_session() returns setof dlq.dlq_sql_grants
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return query
        select g.*
        from dlq.dlq_sql_grants g
        where not pg_has_role(session_user, (select nspowner from pg_namespace where nspname = 'dlq'), 'member')
          -- Each a look-up, because a server may have many roles.
          and ((select pg_has_role(session_user, r.oid, 'member') from pg_roles r where r.rolname = g.role_name)
               or (select pg_has_role(session_user, r.oid, 'member') and g.server_id = dlq.server_id() from pg_roles r where r.oid = g.role_id));
end;
$$;

create or replace function dlq.message_partitions() returns table (name text, from_id uuid, until_id uuid)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
    return query
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
        from partition;
end;
$$;

-- Only these words change. A bound that is computed for each row is none that an index can look up: a claim read all that
-- the topic retries later.
do $do$
begin
    execute replace(pg_get_functiondef('dlq.claim_messages(text, int, interval, int)'::regprocedure),
        'm.next_retry_at <= clock_timestamp()', 'm.next_retry_at <= (select clock_timestamp())');
end;
$do$;
alter function dlq.claim_messages(text, int, interval, int) set plan_cache_mode = force_generic_plan;
alter function dlq.fail_message(uuid, uuid, text, text, text, interval) set plan_cache_mode = force_generic_plan;
