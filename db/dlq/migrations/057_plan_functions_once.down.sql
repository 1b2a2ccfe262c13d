-- Loses nothing.

create or replace function dlq.policy_of(
    p_topic text,
    out delivery text, out auto_retry boolean, out paused boolean, out max_retries int, out backoff text,
    out initial_delay interval, out multiplier numeric, out max_delay interval, out backoff_list interval[],
    out run_every interval
)
language sql stable
as $$
    with matching as materialized (
        select p.*, row_number() over (
            order by length(pattern) - length(translate(pattern, '*?', '')), length(pattern) desc, pattern collate "C") as place
        from dlq.dlq_policies p
        where p_topic like replace(replace(replace(pattern, '_', E'\\_'), '*', '%'), '?', '_')
    )
    select
        coalesce((select m.delivery from matching m where m.delivery is not null order by place limit 1), 'republish'),
        coalesce((select m.auto_retry from matching m where m.auto_retry is not null order by place limit 1), true),
        coalesce((select m.paused from matching m where m.paused is not null order by place limit 1), false),
        coalesce((select m.max_retries from matching m where m.max_retries is not null order by place limit 1), 3),
        coalesce((select m.backoff from matching m where m.backoff is not null order by place limit 1), 'exponential'),
        coalesce((select m.initial_delay from matching m where m.initial_delay is not null order by place limit 1), interval '5 minutes'),
        coalesce((select m.multiplier from matching m where m.multiplier is not null order by place limit 1), 4),
        coalesce((select m.max_delay from matching m where m.max_delay is not null order by place limit 1), interval '24 hours'),
        (select m.backoff_list from matching m where m.backoff_list is not null order by place limit 1),
        (select nullif(m.run_every, '0') from matching m where m.run_every is not null order by place limit 1)
$$;

create or replace function dlq.next_retry_at(p_topic text, p_retry_count int, p_now timestamptz default clock_timestamp()) returns timestamptz
language sql volatile
as $$
    select case
        when p.run_every is null then due.at
        -- The next run after the wait, never the one that is on.
        else greatest(
            date_bin(p.run_every, due.at - interval '1 microsecond', 'epoch'),
            date_bin(p.run_every, p_now, 'epoch')) + p.run_every
    end
    from dlq.policy_of(p_topic) p
    cross join lateral (
        select p_now + case p.backoff
            when 'fixed' then p.initial_delay
            when 'list' then coalesce(p.backoff_list[least(p_retry_count + 1, cardinality(p.backoff_list))], p.initial_delay)
            -- The power is bounded, because it might be too large for a number; the delay is bounded long before.
            else make_interval(secs => (0.1 + 0.9 * random()) * least(
                extract(epoch from p.initial_delay)::float8 * p.multiplier::float8 ^ least(p_retry_count, 100),
                extract(epoch from p.max_delay)::float8))
        end as at
        offset 0
    ) due
    where p.auto_retry
$$;

create or replace function dlq.resolve_messages(p_ids uuid[], p_token uuid) returns setof uuid
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
    select dlq.require(cardinality(p_ids) <= 1000, 'p_ids must be at most 1000 ids');
    select dlq.require_lease_grant(p_ids, p_token);
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

create or replace function dlq.extend_leases(p_ids uuid[], p_token uuid, p_lease interval) returns setof uuid
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
    select dlq.require(p_lease between interval '1 second' and interval '1 day', 'p_lease must be from 1 second to 1 day');
    select dlq.require_lease_grant(p_ids, p_token);
    update dlq.dlq_messages m set lease_until = clock_timestamp() + p_lease
    where m.id = any(p_ids) and m.lease_token = p_token and m.status = 'RETRYING' and m.lease_slot is null
    returning m.id
$$;

create or replace function dlq.release_messages(p_ids uuid[], p_token uuid) returns setof uuid
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
    select dlq.require_lease_grant(p_ids, p_token);
    update dlq.dlq_messages m set
        status = 'PENDING', retry_count = m.retry_count - 1, next_retry_at = clock_timestamp(), lease_token = null, lease_until = null
    where m.id = any(p_ids) and m.lease_token = p_token and m.status = 'RETRYING' and m.lease_slot is null
    returning m.id
$$;

create or replace function dlq.expire_leases(p_topic text, p_limit int) returns int
language sql
as $$
    with expired as materialized (
        select id, original_topic, retry_count, max_retries, last_retry_at
        from dlq.dlq_messages
        where lease_until < clock_timestamp() and status = 'RETRYING' and lease_slot is null
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
    select count(*)::int from ended
$$;

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

do $do$
begin
    execute replace(pg_get_functiondef('dlq.claim_messages(text, int, interval, int)'::regprocedure),
        'm.next_retry_at <= (select clock_timestamp())', 'm.next_retry_at <= clock_timestamp()');
end;
$do$;
alter function dlq.claim_messages(text, int, interval, int) reset plan_cache_mode;
alter function dlq.fail_message(uuid, uuid, text, text, text, interval) reset plan_cache_mode;
