-- What policies wait are lengths of time: a day has 24 hours whatever the session's time zone, and a month 30 days, as the
-- services read them. With a month as `run_every`, no message of the topic could be stored, and no lease of any topic ended.

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
