-- The archive: where RESOLVED and DEAD messages go after their retention.
-- Partitioned by quarter of archived_at, so that purging a year is dropping tables.

create table dlq.dlq_messages_archive (
    like dlq.dlq_messages including defaults including constraints,
    archived_at timestamptz not null default now(),
    constraint dlq_messages_archive_pkey primary key (id, archived_at)
) partition by range (archived_at);

create index idx_dlq_messages_archive_original_topic on dlq.dlq_messages_archive (original_topic, id);

-- Makes the partition of the quarter that p_time lies in, unless it is there. Returns true if it made one.
create function dlq.create_archive_partition(p_time timestamptz) returns boolean
language sql
as $$
    select dlq.add_partition('dlq_messages_archive', 'dlq_messages_archive_' || to_char(quarter, 'YYYY"q"Q'),
        (quarter at time zone 'UTC')::text, ((quarter + interval '3 months') at time zone 'UTC')::text)
    from date_trunc('quarter', p_time at time zone 'UTC') as quarter
$$;

-- Makes the partitions from p_now's quarter to p_quarters_ahead quarters later. Returns how many it made.
create function dlq.create_archive_partitions(p_quarters_ahead int default 1, p_now timestamptz default now()) returns int
language plpgsql
as $$
declare
    v_made int := 0;
begin
    for v_quarter in 0 .. p_quarters_ahead loop
        v_made := v_made + dlq.create_archive_partition(p_now + make_interval(months => 3 * v_quarter))::int;
    end loop;
    return v_made;
end;
$$;

-- Moves RESOLVED and DEAD messages that nobody touched for p_retention_days into the archive, in
-- batches, each its own transaction. One statement selects, deletes and inserts a batch: two
-- statements would each run the filter under their own snapshot, and what changed in between
-- would be deleted without being archived. Locked rows are left for the next run.
create procedure dlq.archive_old_dlq_messages(
    p_retention_days int default 30,
    p_batch_size     int default 1000
)
language plpgsql
as $$
declare
    v_cutoff         timestamptz;
    v_archived_count int := 0;
    v_batch_count    int;
begin
    if p_retention_days is null or p_retention_days not between 0 and 36500 or p_batch_size is null or p_batch_size < 1 then
        raise exception 'p_retention_days must be from 0 to 36500 and p_batch_size at least 1, not % and %', p_retention_days, p_batch_size
            using errcode = 'invalid_parameter_value';
    end if;
    v_cutoff := now() - make_interval(days => p_retention_days);
    perform dlq.create_archive_partitions();
    commit;

    loop
        -- "materialized" keeps the limit and the row locks in one place, evaluated once.
        with ids as materialized (
            select id
            from dlq.dlq_messages
            where status in ('RESOLVED', 'DEAD') and updated_at < v_cutoff
            limit p_batch_size
            for update skip locked
        ),
        gone as (
            delete from dlq.dlq_messages m using ids where m.id = ids.id
            returning m.*
        )
        insert into dlq.dlq_messages_archive (
            id, original_topic, error_message, retry_count, max_retries, payload, status, created_at, updated_at, last_retry_at,
            dlq_cluster, dlq_topic, dlq_partition, dlq_offset,
            original_partition, original_offset, original_timestamp, original_topic_source, consumer_group,
            record_key, record_value, record_headers, record_timestamp, record_timestamp_type, record_source,
            error_class, error_stacktrace, group_id,
            next_retry_at, lease_token, lease_until, lease_slot, lease_batch, order_key, retry_requested,
            failure_count, first_failed_at, last_failed_at, run_id, successor_of, target_topic, edits
        )
        select
            id, original_topic, error_message, retry_count, max_retries, payload, status, created_at, updated_at, last_retry_at,
            dlq_cluster, dlq_topic, dlq_partition, dlq_offset,
            original_partition, original_offset, original_timestamp, original_topic_source, consumer_group,
            record_key, record_value, record_headers, record_timestamp, record_timestamp_type, record_source,
            error_class, error_stacktrace, group_id,
            next_retry_at, lease_token, lease_until, lease_slot, lease_batch, order_key, retry_requested,
            failure_count, first_failed_at, last_failed_at, run_id, successor_of, target_topic, edits
        from gone;

        get diagnostics v_batch_count = row_count;
        v_archived_count := v_archived_count + v_batch_count;
        commit;
        exit when v_batch_count = 0;
    end loop;

    raise notice 'Archived % DLQ messages older than % days', v_archived_count, p_retention_days;
end;
$$;

do $$
begin
    execute format('create table dlq.dlq_messages_archive_first partition of dlq.dlq_messages_archive for values from (minvalue) to (%L)',
        date_trunc('quarter', now(), 'UTC'));
    perform dlq.create_archive_partitions();
end;
$$;
