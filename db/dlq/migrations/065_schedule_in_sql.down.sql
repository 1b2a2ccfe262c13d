-- Loses nothing.

set local lock_timeout = '800ms';

do $do$
declare
    v_change record;
begin
    for v_change in select * from (values
        ('dlq.claim_messages(text, int, interval, int)',
         'm.retry_requested or not (m.held_by_route or coalesce(m.origin_state, 0) > 10)',
         'm.retry_requested or not m.held_by_route'),
        ('dlq.claim_messages(text, int, interval, int)',
         'm.retry_count < greatest(p_max_retries, m.max_retries)',
         'm.retry_count < coalesce(p_max_retries, m.max_retries)'),
        ('dlq.claim_messages(text, int, interval, int)',
         'max_retries = case when m.retry_count < p_max_retries then p_max_retries else m.max_retries end,',
         'max_retries = coalesce(p_max_retries, m.max_retries),'),
        ('dlq.fail_message(uuid, uuid, text, text, text, interval)',
         'm.retry_count >= m.max_retries or m.held_by_route or coalesce(m.origin_state, 0) > 10',
         'm.retry_count >= m.max_retries or m.held_by_route'),
        ('dlq.release_messages(uuid[], uuid)',
         'm.retry_requested or not (m.held_by_route or coalesce(m.origin_state, 0) > 10)',
         'm.retry_requested or not m.held_by_route'),
        ('dlq.expire_leases(text, int)',
         'e.retry_count < e.max_retries and not (m.held_by_route or coalesce(m.origin_state, 0) > 10)',
         'e.retry_count < e.max_retries and not m.held_by_route')
    ) as change (routine, new, old) loop
        execute replace(pg_get_functiondef(v_change.routine::regprocedure), v_change.new, v_change.old);
    end loop;
end;
$do$;

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
