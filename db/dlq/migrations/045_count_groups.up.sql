-- What lists of error groups add up, beside dlq_summary: one row for each group. Of 500 groups in ten topics each, dlq_summary
-- has 15,000 lines. infra/docs/decisions/063-what-a-list-adds-up.md says more.

set local lock_timeout = '5s';

-- Nobody folds from here on: what is counted below is what dlq_summary says when this is committed. A full count may hold
-- the lock for minutes; everything else goes on meanwhile.
do $$
declare
    v_until constant timestamptz := clock_timestamp() + interval '30 minutes';
begin
    while not dlq.try_lock('dlq-summary-updater', 'migration 045', interval '1 hour') loop
        if clock_timestamp() > v_until then
            raise exception 'the counts have been locked for half an hour: see dlq.dlq_locks, then migrate again'
                using errcode = 'lock_not_available';
        end if;
        perform pg_sleep(0.1);
    end loop;
end;
$$;

create table dlq.dlq_summary_groups (
    group_id   uuid        not null,
    -- Its messages of all topics and consumer groups.
    pending    bigint      not null,
    retrying   bigint      not null,
    resolved   bigint      not null,
    dead       bigint      not null,
    updated_at timestamptz not null default now(),

    constraint dlq_summary_groups_pkey primary key (group_id)
) with (
    -- As dlq_summary.
    fillfactor = 50,
    autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_scale_factor = 0.2
);

insert into dlq.dlq_summary_groups (group_id, pending, retrying, resolved, dead)
select group_id,
       coalesce(sum(count) filter (where status = 'PENDING'), 0),
       coalesce(sum(count) filter (where status = 'RETRYING'), 0),
       coalesce(sum(count) filter (where status = 'RESOLVED'), 0),
       coalesce(sum(count) filter (where status = 'DEAD'), 0)
from dlq.dlq_summary
where group_id is not null
group by group_id;

-- For the groups of one topic, and of one consumer group. Folding changes neither column, so it stays cheap.
create index idx_dlq_summary_dlq_topic on dlq.dlq_summary (dlq_topic);
create index idx_dlq_summary_consumer_group on dlq.dlq_summary (consumer_group);
-- Ingesters write this table; the index is small.
set local lock_timeout = '800ms';
-- For the groups that may have regressed. Being seen again changes no column of it.
create index idx_dlq_group_topics_resolved on dlq.dlq_group_topics (group_id) where state = 'resolved';

-- As in 013, and into dlq_summary_groups as well.
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
    ),
    grouped as (
        insert into dlq.dlq_summary_groups as known (group_id, pending, retrying, resolved, dead)
        select group_id, pending, retrying, resolved, dead
        from (
            select group_id,
                   coalesce(sum(change) filter (where status = 'PENDING'), 0)  as pending,
                   coalesce(sum(change) filter (where status = 'RETRYING'), 0) as retrying,
                   coalesce(sum(change) filter (where status = 'RESOLVED'), 0) as resolved,
                   coalesce(sum(change) filter (where status = 'DEAD'), 0)     as dead
            from folded
            where group_id is not null
            group by group_id
        ) changes
        where (pending, retrying, resolved, dead) <> (0, 0, 0, 0)
        on conflict (group_id) do update set
            pending = known.pending + excluded.pending, retrying = known.retrying + excluded.retrying,
            resolved = known.resolved + excluded.resolved, dead = known.dead + excluded.dead, updated_at = now()
    )
    select count(*) into v_folded from folded;
    perform dlq.release_lock('dlq-summary-updater', 'fold ' || pg_backend_pid());
    return v_folded;
end;
$$;

-- As in 013, and of dlq_summary_groups as well.
create or replace function dlq.reconcile_summary(p_repair boolean default true) returns bigint
language plpgsql
as $$
declare
    v_drift bigint;
    v_totals_drift bigint;
    v_groups_drift bigint;
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

    -- Nobody folds meanwhile: what is left between the summaries is what somebody changed by hand.
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
    with differences as materialized (
        select group_id, sum(pending) as pending, sum(retrying) as retrying, sum(resolved) as resolved, sum(dead) as dead
        from (
            select group_id, case status when 'PENDING' then count else 0 end as pending,
                   case status when 'RETRYING' then count else 0 end as retrying,
                   case status when 'RESOLVED' then count else 0 end as resolved,
                   case status when 'DEAD' then count else 0 end as dead
            from dlq.dlq_summary where group_id is not null
            union all
            select group_id, -pending, -retrying, -resolved, -dead from dlq.dlq_summary_groups
        ) counts
        group by group_id
        having (sum(pending), sum(retrying), sum(resolved), sum(dead)) <> (0, 0, 0, 0)
    ),
    repaired as (
        insert into dlq.dlq_summary_groups as known (group_id, pending, retrying, resolved, dead)
        select group_id, pending, retrying, resolved, dead from differences
        where p_repair
        on conflict (group_id) do update set
            pending = known.pending + excluded.pending, retrying = known.retrying + excluded.retrying,
            resolved = known.resolved + excluded.resolved, dead = known.dead + excluded.dead, updated_at = now()
    )
    select coalesce(sum(abs(pending) + abs(retrying) + abs(resolved) + abs(dead)), 0) into v_groups_drift from differences;
    v_drift := v_drift + v_totals_drift + v_groups_drift;

    if p_repair then
        -- What has been 0 for a day was a topic, a group or an error that is gone.
        delete from dlq.dlq_summary where count = 0 and updated_at < now() - interval '1 day';
        delete from dlq.dlq_summary_totals where count = 0 and updated_at < now() - interval '1 day';
        delete from dlq.dlq_summary_groups
        where (pending, retrying, resolved, dead) = (0, 0, 0, 0) and updated_at < now() - interval '1 day';
        update dlq.dlq_summary_state set counted_at = now(), drift = v_drift;
    end if;
    perform dlq.release_lock('dlq-summary-updater', 'reconcile ' || pg_backend_pid());
    return v_drift;
end;
$$;

-- Kept for a moment where there was something to count: a fold that began before this is committed waits for the lock, and
-- must not go on with the function as it was.
select dlq.release_lock('dlq-summary-updater', 'migration 045')
where not exists (select from dlq.dlq_summary) and not exists (select from dlq.dlq_summary_deltas);
update dlq.dlq_locks set locked_until = clock_timestamp() + interval '1 second'
where id = 'dlq-summary-updater' and locked_by = 'migration 045';
