-- Exact counts without count(*). Statement-level triggers append what a statement changed to
-- dlq_summary_deltas, in its own transaction; dlq.fold_summary() adds deltas up into dlq_summary and
-- dlq_summary_totals. Deltas and one of these, read by one statement, are what count(*) would say.
-- Counters that statements update themselves would make writers wait for each other (reference
-- figures: 12,000 rows/s against 117,000).
-- infra/docs/decisions/061-counts-by-statement-triggers.md says why, and what holds it exact.

create table dlq.dlq_summary (
    dlq_topic      text,
    original_topic text        not null,
    consumer_group text,
    group_id       uuid,
    status         text        not null,
    count          bigint      not null,
    updated_at     timestamptz not null default now(),

    -- What is not known is counted as well: nulls are equal here.
    constraint dlq_summary_key unique nulls not distinct (original_topic, dlq_topic, consumer_group, group_id, status)
) with (
    -- Rewritten with every fold: room for new versions on the same page.
    fillfactor = 50,
    autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_scale_factor = 0.2
);

-- The count itself is in no index, so folding stays cheap.
create index idx_dlq_summary_group_id on dlq.dlq_summary (group_id);

-- The same sums without the error groups, of which there may be many thousands: what overviews add up.
create table dlq.dlq_summary_totals (
    dlq_topic      text,
    original_topic text        not null,
    consumer_group text,
    status         text        not null,
    count          bigint      not null,
    updated_at     timestamptz not null default now(),

    constraint dlq_summary_totals_key unique nulls not distinct (original_topic, dlq_topic, consumer_group, status)
) with (
    fillfactor = 50,
    autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_scale_factor = 0.2
);
create index idx_dlq_summary_totals_dlq_topic on dlq.dlq_summary_totals (dlq_topic);

-- Without a key or an index: rows are only appended, and taken as they come.
create table dlq.dlq_summary_deltas (
    dlq_topic      text,
    original_topic text   not null,
    consumer_group text,
    group_id       uuid,
    status         text   not null,
    change         bigint not null
) with (
    -- Every row is deleted within a minute or so; what is dead is read past until it is vacuumed.
    autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_insert_threshold = -1
);

-- One row: the last full count.
create table dlq.dlq_summary_state (
    only_row   boolean     not null default true,
    -- Null until the rows that were there before the triggers have been counted: no count is right yet.
    counted_at timestamptz,
    -- By how much the summary was wrong at the last full count, over all its rows.
    drift      bigint      not null default 0,

    constraint dlq_summary_state_pkey primary key (only_row),
    constraint chk_dlq_summary_state_only_row check (only_row)
);

-- Work that one instance does at a time: whoever inserts the row has the lock, and deletes it afterwards.
create table dlq.dlq_locks (
    id           text        not null,
    locked_by    text        not null,
    locked_at    timestamptz not null,
    -- A holder that died keeps the lock no longer than this.
    locked_until timestamptz not null,

    constraint dlq_locks_pkey primary key (id)
) with (fillfactor = 50);

-- Takes the lock, for p_at_most. Returns false where somebody else has it, without waiting for them.
create function dlq.try_lock(p_id text, p_locked_by text, p_at_most interval) returns boolean
language plpgsql
-- For a lock that is being taken by a transaction that has not ended yet.
set lock_timeout = '20ms'
as $$
begin
    insert into dlq.dlq_locks as known (id, locked_by, locked_at, locked_until)
    values (p_id, p_locked_by, clock_timestamp(), clock_timestamp() + p_at_most)
    on conflict (id) do update set
        locked_by = excluded.locked_by, locked_at = excluded.locked_at, locked_until = excluded.locked_until
    where known.locked_until <= clock_timestamp();
    return found;
exception when lock_not_available then
    return false;
end;
$$;

-- Keeps a lock for another p_at_most. Returns false where it ran out and somebody else has it.
create function dlq.extend_lock(p_id text, p_locked_by text, p_at_most interval) returns boolean
language sql
as $$
    with extended as (
        update dlq.dlq_locks set locked_until = clock_timestamp() + p_at_most
        where id = p_id and locked_by = p_locked_by
        returning 1
    )
    select exists (select from extended)
$$;

-- Gives a lock back. Nobody gets it before p_at_least after it was taken, so that instances whose clocks
-- differ do not do the same work one after the other.
create function dlq.release_lock(p_id text, p_locked_by text, p_at_least interval default '0') returns void
language sql
as $$
    delete from dlq.dlq_locks
    where id = p_id and locked_by = p_locked_by and locked_at + p_at_least <= clock_timestamp();
    update dlq.dlq_locks set locked_until = locked_at + p_at_least
    where id = p_id and locked_by = p_locked_by;
$$;

-- The triggers. As their owner, so that who may change messages needs no rights to the counts.
create function dlq.count_inserted() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    insert into dlq.dlq_summary_deltas (dlq_topic, original_topic, consumer_group, group_id, status, change)
    select dlq_topic, original_topic, consumer_group, group_id, status, count(*)
    from new_rows
    group by dlq_topic, original_topic, consumer_group, group_id, status;
    return null;
end;
$$;

create function dlq.count_deleted() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    insert into dlq.dlq_summary_deltas (dlq_topic, original_topic, consumer_group, group_id, status, change)
    select dlq_topic, original_topic, consumer_group, group_id, status, -count(*)
    from old_rows
    group by dlq_topic, original_topic, consumer_group, group_id, status;
    return null;
end;
$$;

-- What only moves times or leases changes no count and appends nothing.
create function dlq.count_updated() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    insert into dlq.dlq_summary_deltas (dlq_topic, original_topic, consumer_group, group_id, status, change)
    select dlq_topic, original_topic, consumer_group, group_id, status, sum(change)
    from (
        select dlq_topic, original_topic, consumer_group, group_id, status, 1 as change from new_rows
        union all
        select dlq_topic, original_topic, consumer_group, group_id, status, -1 from old_rows
    ) changes
    group by dlq_topic, original_topic, consumer_group, group_id, status
    having sum(change) <> 0;
    return null;
end;
$$;

-- Before a truncate, when the table is locked already. A partitioned table has no rows of its own; its
-- partitions' triggers follow.
create function dlq.count_truncated() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform dlq.require_read_committed('truncate');
    execute format('
        insert into dlq.dlq_summary_deltas (dlq_topic, original_topic, consumer_group, group_id, status, change)
        select dlq_topic, original_topic, consumer_group, group_id, status, -count(*)
        from only %I.%I
        group by dlq_topic, original_topic, consumer_group, group_id, status', tg_table_schema, tg_table_name);
    return null;
end;
$$;

-- A snapshot older than the lock would miss rows that were committed in between.
create function dlq.require_read_committed(p_what text) returns void
language plpgsql
as $$
begin
    if current_setting('transaction_isolation') <> 'read committed' then
        raise exception '% needs the isolation level read committed, not %', p_what, current_setting('transaction_isolation')
            using errcode = 'invalid_transaction_state';
    end if;
end;
$$;

-- A statement fires the triggers of the table that it names, the partitioned one or a partition: each has
-- them. Partitions that are made later copy them (dlq.create_message_partition).
do $$
declare
    v_table regclass;
begin
    for v_table in
        select 'dlq.dlq_messages'::regclass
        union all
        select inhrelid from pg_inherits where inhparent = 'dlq.dlq_messages'::regclass
    loop
        execute format('create trigger trg_dlq_summary_insert after insert on %s
            referencing new table as new_rows for each statement execute function dlq.count_inserted()', v_table);
        execute format('create trigger trg_dlq_summary_update after update on %s
            referencing old table as old_rows new table as new_rows for each statement execute function dlq.count_updated()', v_table);
        execute format('create trigger trg_dlq_summary_delete after delete on %s
            referencing old table as old_rows for each statement execute function dlq.count_deleted()', v_table);
        execute format('create trigger trg_dlq_summary_truncate before truncate on %s
            for each statement execute function dlq.count_truncated()', v_table);
    end loop;
end;
$$;

-- Nothing to count yet where there is nothing; else dlq.reconcile_summary() does, while others write.
insert into dlq.dlq_summary_state (counted_at)
select case when not exists (select from dlq.dlq_messages) then now() end;

-- Adds up to p_limit deltas to both summaries. Returns how many; null where another instance is folding.
create function dlq.fold_summary(p_limit int default 10000) returns int
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

-- Counts everything, and appends as deltas what the summary is wrong by. Also for the first time, when the
-- table held rows before it had triggers. Nobody has to wait or stop: the difference between the rows and
-- the counts of one snapshot is the same in every later one, since whatever changes a row says so in the
-- same transaction. Returns the drift, which should be 0 every night, and 0 for the first count; null where
-- another instance holds the lock. p_repair false only looks.
create function dlq.reconcile_summary(p_repair boolean default true) returns bigint
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

-- Drops a partition of messages with what is in it, and takes it off the counts. Returns how many messages
-- that were. A partition dropped or detached otherwise stays in the counts until the next reconciliation.
create function dlq.drop_message_partition(p_partition regclass) returns bigint
language plpgsql
set lock_timeout = '1s'
as $$
declare
    v_dropped bigint;
begin
    perform dlq.require_read_committed('dlq.drop_message_partition');
    if not exists (select from pg_inherits where inhrelid = p_partition and inhparent = 'dlq.dlq_messages'::regclass) then
        raise exception '% is no partition of dlq.dlq_messages', p_partition using errcode = 'wrong_object_type';
    end if;
    -- From the parent down, as everybody locks them; nobody can add a row any more.
    lock table only dlq.dlq_messages in access exclusive mode;
    execute format('lock table %s in access exclusive mode', p_partition);
    execute format('
        with counted as (
            insert into dlq.dlq_summary_deltas (dlq_topic, original_topic, consumer_group, group_id, status, change)
            select dlq_topic, original_topic, consumer_group, group_id, status, -count(*)
            from %s
            group by dlq_topic, original_topic, consumer_group, group_id, status
            returning change
        )
        select coalesce(-sum(change), 0) from counted', p_partition) into v_dropped;
    -- Edits are few: each is looked up, and not the partition read.
    execute format('delete from dlq.dlq_message_edits e where exists (select from %s m where m.id = e.message_id)', p_partition);
    execute format('drop table %s', p_partition);
    return v_dropped;
end;
$$;

-- What was retried lately. Attempts are appended in about the order of their time, so a BRIN index serves,
-- which costs nothing to keep.
create index idx_dlq_attempts_settled_at on dlq.dlq_attempts using brin (settled_at) with (autosummarize = on);
