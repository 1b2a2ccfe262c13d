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
