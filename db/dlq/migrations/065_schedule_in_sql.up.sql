-- What policies wait are lengths of time: a day has 24 hours whatever the session's time zone, and a month 30 days, as the
-- services read them. With a month as `run_every`, no message of the topic could be stored, and no lease of any topic ended.

-- After this time others go on, and the migration is run again.
set local lock_timeout = '800ms';

create or replace function dlq.next_retry_at(p_topic text, p_retry_count int, p_now timestamptz default clock_timestamp()) returns timestamptz
language plpgsql volatile
as $$
declare
    v_policy record := dlq.policy_of(p_topic);
    -- date_bin takes no months, and a day added in a time zone may have 23 hours.
    v_every  interval := make_interval(secs => extract(epoch from v_policy.run_every)::float8);
    v_at     timestamptz;
begin
    if not v_policy.auto_retry then
        return null;
    end if;
    v_at := p_now + make_interval(secs => case v_policy.backoff
        when 'fixed' then extract(epoch from v_policy.initial_delay)::float8
        when 'list' then extract(epoch from
            coalesce(v_policy.backoff_list[least(p_retry_count + 1, cardinality(v_policy.backoff_list))], v_policy.initial_delay))::float8
        -- The power is bounded, because it might be too large for a number; the delay is bounded long before.
        else (0.1 + 0.9 * random()) * least(
            extract(epoch from v_policy.initial_delay)::float8 * v_policy.multiplier::float8 ^ least(p_retry_count, 100),
            extract(epoch from v_policy.max_delay)::float8)
    end);
    if v_every is null then
        return v_at;
    end if;
    -- The next run after the wait, never the one that is on.
    return greatest(
        date_bin(v_every, v_at - interval '1 microsecond', 'epoch'),
        date_bin(v_every, p_now, 'epoch')) + v_every;
end;
$$;

-- A message that waits for the record that failed is sent only by force, as one that its route holds (063). An attempt of an
-- application that failed gave it a time, and then it was claimed again: its value may be the one that was lost. And a
-- budget that somebody has renewed counts beside that of the caller: what was forced or revived after it had spent the
-- caller's was never claimed.
do $do$
declare
    v_change record;
    v_text   text;
begin
    for v_change in select * from (values
        ('dlq.claim_messages(text, int, interval, int)',
         'm.retry_requested or not m.held_by_route',
         'm.retry_requested or not (m.held_by_route or coalesce(m.origin_state, 0) > 10)'),
        ('dlq.claim_messages(text, int, interval, int)',
         'm.retry_count < coalesce(p_max_retries, m.max_retries)',
         'm.retry_count < greatest(p_max_retries, m.max_retries)'),
        ('dlq.claim_messages(text, int, interval, int)',
         'max_retries = coalesce(p_max_retries, m.max_retries),',
         'max_retries = case when m.retry_count < p_max_retries then p_max_retries else m.max_retries end,'),
        ('dlq.fail_message(uuid, uuid, text, text, text, interval)',
         'm.retry_count >= m.max_retries or m.held_by_route',
         'm.retry_count >= m.max_retries or m.held_by_route or coalesce(m.origin_state, 0) > 10'),
        ('dlq.release_messages(uuid[], uuid)',
         'm.retry_requested or not m.held_by_route',
         'm.retry_requested or not (m.held_by_route or coalesce(m.origin_state, 0) > 10)'),
        ('dlq.expire_leases(text, int)',
         'e.retry_count < e.max_retries and not m.held_by_route',
         'e.retry_count < e.max_retries and not (m.held_by_route or coalesce(m.origin_state, 0) > 10)')
    ) as change (routine, old, new) loop
        v_text := pg_get_functiondef(v_change.routine::regprocedure);
        if position(v_change.old in v_text) = 0 then
            raise exception '% is not the one of migration 063', v_change.routine;
        end if;
        execute replace(v_text, v_change.old, v_change.new);
    end loop;
end;
$do$;
