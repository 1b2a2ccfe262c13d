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

select dlq.apply_grants();
