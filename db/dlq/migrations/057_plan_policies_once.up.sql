-- The policy of a topic and the time of its next attempt, as before, and in a tenth of the time. A function in SQL that
-- another one calls is parsed and planned for each call; one in PL/pgSQL once in a session. Rows that plain SQL inserts, and
-- dead letters that applications fail, ask for each of them.

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
