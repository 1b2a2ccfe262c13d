-- The archive: where RESOLVED and DEAD messages go after their retention.
-- Partitioned by quarter of archived_at, so that purging a year is dropping tables.

create table dlq.dlq_messages_archive (
    like dlq.dlq_messages including defaults including constraints including compression,
    archived_at timestamptz not null default now(),
    constraint dlq_messages_archive_pkey primary key (id, archived_at)
) partition by range (archived_at);

create index idx_dlq_messages_archive_original_topic on dlq.dlq_messages_archive (original_topic, id);

-- Makes the partitions of the quarter that p_time lies in, unless they are there: of the messages, and of their
-- attempts (012). Returns true if it made one.
create function dlq.create_archive_partition(p_time timestamptz) returns boolean
language sql
as $$
    -- Of the attempts' table, which 012 makes later, there may be none yet; then nothing is made for it.
    select bool_or(dlq.add_partition(name, name || '_' || to_char(quarter, 'YYYY"q"Q'),
        (quarter at time zone 'UTC')::text, ((quarter + interval '3 months') at time zone 'UTC')::text))
    from date_trunc('quarter', p_time at time zone 'UTC') as quarter
    cross join unnest(array['dlq_messages_archive', 'dlq_attempts_archive']) as name
    where to_regclass('dlq.' || name) is not null
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
-- batches, each its own transaction: topic by topic along idx_dlq_messages_settled, each batch beginning
-- where the last one ended, because the index still leads to what that one deleted. A batch is moved by one
-- statement (dlq.archive_messages, 012): two would each run the filter under their own snapshot, and what
-- changed in between would be deleted without being archived. Locked rows are left for the next run.
-- What policies say of retention is the retriers' business: here the parameter goes for every topic.
create procedure dlq.archive_old_dlq_messages(
    p_retention_days int default 30,
    p_batch_size     int default 1000
)
language plpgsql
as $$
declare
    v_cutoff         timestamptz;
    v_archived_count int := 0;
    v_topic          text := '';
    v_ids            uuid[];
    v_time           timestamptz;
    v_id             uuid;
begin
    if p_retention_days is null or p_retention_days not between 0 and 36500 or p_batch_size is null or p_batch_size < 1 then
        raise exception 'p_retention_days must be from 0 to 36500 and p_batch_size at least 1, not % and %', p_retention_days, p_batch_size
            using errcode = 'invalid_parameter_value';
    end if;
    v_cutoff := now() - make_interval(days => p_retention_days);
    perform dlq.create_archive_partitions();
    commit;

    loop
        select original_topic into v_topic
        from dlq.dlq_messages
        where status in ('RESOLVED', 'DEAD') and original_topic > v_topic
        order by original_topic limit 1;
        exit when v_topic is null;
        v_time := '-infinity';
        v_id := '00000000-0000-0000-0000-000000000000';
        loop
            select array_agg(id), max(updated_at), (array_agg(id order by updated_at desc, id desc))[1]
            into v_ids, v_time, v_id
            from (
                select id, updated_at
                from dlq.dlq_messages
                where original_topic = v_topic and status in ('RESOLVED', 'DEAD')
                  and updated_at < v_cutoff and (updated_at, id) > (v_time, v_id)
                order by updated_at, id
                limit p_batch_size
            ) old;
            exit when v_ids is null;
            v_archived_count := v_archived_count + dlq.archive_messages(v_ids, v_cutoff);
            commit;
        end loop;
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
