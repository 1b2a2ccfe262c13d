-- Loses nothing.

set local lock_timeout = '800ms';

do $do$
declare
    v_routine text;
begin
    foreach v_routine in array array[
        'dlq.claim_messages(text, int, interval, int)', 'dlq.fail_message(uuid, uuid, text, text, text, interval)',
        'dlq.release_messages(uuid[], uuid)', 'dlq.expire_leases(text, int)'] loop
        execute replace(pg_get_functiondef(v_routine::regprocedure),
            '(m.held_by_route or coalesce(m.origin_state, 0) > 10)', 'm.held_by_route');
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
