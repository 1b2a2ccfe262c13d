-- Loses the counts of error groups over all topics; they are counted anew when this goes up again.

set local lock_timeout = '5s';

drop index if exists dlq.idx_dlq_group_topics_resolved;
drop index if exists dlq.idx_dlq_summary_consumer_group;
drop index if exists dlq.idx_dlq_summary_dlq_topic;

-- As in 013.
create or replace function dlq.fold_summary(p_limit int default 10000) returns int
language plpgsql
as $$
declare
    v_folded int;
begin
    if p_limit is null or p_limit < 1 then
        raise exception 'p_limit must be at least 1, not %', p_limit using errcode = 'invalid_parameter_value';
    end if;
    -- Taken and given back in this transaction: whoever dies meanwhile holds nothing.
    if not dlq.try_lock('dlq-summary-updater', 'fold ' || pg_backend_pid(), interval '1 hour') then
        return null;
    end if;
    -- One statement, so that a delta is in the sum or still a delta at every moment.
    with folded as materialized (
        delete from dlq.dlq_summary_deltas
        -- As an array, because an IN (…) with a limit may be evaluated once per row.
        where ctid = any(array(select ctid from dlq.dlq_summary_deltas limit p_limit))
        returning dlq_topic, original_topic, consumer_group, group_id, status, change
    ),
    summed as (
        insert into dlq.dlq_summary as known (dlq_topic, original_topic, consumer_group, group_id, status, count)
        select dlq_topic, original_topic, consumer_group, group_id, status, sum(change)
        from folded
        group by dlq_topic, original_topic, consumer_group, group_id, status
        having sum(change) <> 0
        on conflict on constraint dlq_summary_key do update set count = known.count + excluded.count, updated_at = now()
    ),
    totalled as (
        insert into dlq.dlq_summary_totals as known (dlq_topic, original_topic, consumer_group, status, count)
        select dlq_topic, original_topic, consumer_group, status, sum(change)
        from folded
        group by dlq_topic, original_topic, consumer_group, status
        having sum(change) <> 0
        on conflict on constraint dlq_summary_totals_key do update set count = known.count + excluded.count, updated_at = now()
    )
    select count(*) into v_folded from folded;
    perform dlq.release_lock('dlq-summary-updater', 'fold ' || pg_backend_pid());
    return v_folded;
end;
$$;

create or replace function dlq.reconcile_summary(p_repair boolean default true) returns bigint
language plpgsql
as $$
declare
    v_drift bigint;
    v_totals_drift bigint;
    v_first boolean;
begin
    -- A second one must see what the first one has repaired.
    perform dlq.require_read_committed('dlq.reconcile_summary');
    if not dlq.try_lock('dlq-summary-updater', 'reconcile ' || pg_backend_pid(), interval '1 day') then
        return null;
    end if;
    select counted_at is null into v_first from dlq.dlq_summary_state;
    with differences as materialized (
        select dlq_topic, original_topic, consumer_group, group_id, status, sum(count) as change
        from (
            select dlq_topic, original_topic, consumer_group, group_id, status, count(*) as count from dlq.dlq_messages
            group by dlq_topic, original_topic, consumer_group, group_id, status
            union all
            select dlq_topic, original_topic, consumer_group, group_id, status, -count from dlq.dlq_summary
            union all
            select dlq_topic, original_topic, consumer_group, group_id, status, -change from dlq.dlq_summary_deltas
        ) counts
        group by dlq_topic, original_topic, consumer_group, group_id, status
        having sum(count) <> 0
    ),
    repaired as (
        insert into dlq.dlq_summary_deltas (dlq_topic, original_topic, consumer_group, group_id, status, change)
        select dlq_topic, original_topic, consumer_group, group_id, status, change from differences
        where p_repair
    )
    select case when v_first then 0 else coalesce(sum(abs(change)), 0) end into v_drift from differences;

    -- Nobody folds meanwhile: what is left between the two summaries is what somebody changed by hand.
    with differences as materialized (
        select dlq_topic, original_topic, consumer_group, status, sum(count) as change
        from (
            select dlq_topic, original_topic, consumer_group, status, count from dlq.dlq_summary
            union all
            select dlq_topic, original_topic, consumer_group, status, -count from dlq.dlq_summary_totals
        ) counts
        group by dlq_topic, original_topic, consumer_group, status
        having sum(count) <> 0
    ),
    repaired as (
        insert into dlq.dlq_summary_totals as known (dlq_topic, original_topic, consumer_group, status, count)
        select dlq_topic, original_topic, consumer_group, status, change from differences
        where p_repair
        on conflict on constraint dlq_summary_totals_key do update set count = known.count + excluded.count, updated_at = now()
    )
    select coalesce(sum(abs(change)), 0) into v_totals_drift from differences;
    v_drift := v_drift + v_totals_drift;

    if p_repair then
        -- What has been 0 for a day was a topic, a group or an error that is gone.
        delete from dlq.dlq_summary where count = 0 and updated_at < now() - interval '1 day';
        delete from dlq.dlq_summary_totals where count = 0 and updated_at < now() - interval '1 day';
        update dlq.dlq_summary_state set counted_at = now(), drift = v_drift;
    end if;
    perform dlq.release_lock('dlq-summary-updater', 'reconcile ' || pg_backend_pid());
    return v_drift;
end;
$$;

drop table if exists dlq.dlq_summary_groups;
