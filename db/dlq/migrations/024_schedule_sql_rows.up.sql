-- Rows that plain SQL inserts with the specification's columns alone are retried by policy, and dlq_admin may make
-- partitions that are missing.

set local lock_timeout = '5s';

-- '-infinity' means "nobody said when", which null does not say: null is "only when somebody asks". No row keeps it: the
-- trigger below replaces it in the statement that inserts the row. A default alone cannot see the row's topic. A trigger
-- for each row would take COPY its batches, and the ingester stores by COPY.
create function dlq.schedule_inserted() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    -- The services name the column; then this reads the new rows once, and changes none.
    if exists (select from new_rows where next_retry_at = '-infinity') then
        update dlq.dlq_messages m set
            next_retry_at = case when n.status in ('PENDING', 'RETRYING') then dlq.next_retry_at(n.original_topic, n.retry_count) end
        from new_rows n
        where n.next_retry_at = '-infinity' and m.id = n.id;
    end if;
    return null;
end;
$$;

-- Rows of before the trigger that nobody has touched since. First, because the statements below lock the table.
update dlq.dlq_messages m set next_retry_at = dlq.next_retry_at(original_topic, retry_count)
where status = 'PENDING' and next_retry_at is null and retry_count = 0 and original_topic_source is null and dlq_topic is null
  and not exists (select from dlq.dlq_audit a where a.target_type = 'message' and a.target_id = m.id::text);

-- As in 013: each partition has the trigger, because a statement fires those of the table that it names.
do $$
declare
    v_table regclass;
begin
    for v_table in
        select 'dlq.dlq_messages'::regclass
        union all
        select inhrelid from pg_inherits where inhparent = 'dlq.dlq_messages'::regclass
    loop
        execute format('create trigger trg_dlq_messages_schedule after insert on %s
            referencing new table as new_rows for each statement execute function dlq.schedule_inserted()', v_table);
    end loop;
end;
$$;
alter table dlq.dlq_messages alter column next_retry_at set default '-infinity';
-- Giving a new row its schedule is no change of it: it keeps the updated_at that it was inserted with.
drop trigger trg_dlq_messages_updated_at on dlq.dlq_messages;
create trigger trg_dlq_messages_updated_at
    before update on dlq.dlq_messages
    for each row
    when (old.next_retry_at is distinct from '-infinity')
    execute function dlq.update_updated_at();

-- As their owner, because a partition can only be made by the owner of the table: dlq_admin calls the archive's procedure,
-- which makes the quarter that is missing.
alter function dlq.create_archive_partition(timestamptz)       security definer set search_path = pg_catalog, pg_temp;
alter function dlq.create_message_partition(timestamptz)       security definer set search_path = pg_catalog, pg_temp;
alter function dlq.ensure_message_partition(uuid)              security definer set search_path = pg_catalog, pg_temp;

-- As in 003. Going down below 012 leaves a procedure that does without dlq.archive_messages (db/lone-archive-procedure.ts).
create or replace procedure dlq.archive_old_dlq_messages(
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

select dlq.apply_grants();
