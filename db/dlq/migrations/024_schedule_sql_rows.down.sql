-- Loses nothing. Rows that plain SQL inserts are retried only when somebody asks, and dlq_admin makes no partitions.

set local lock_timeout = '5s';

alter function dlq.create_archive_partition(timestamptz)       security invoker reset search_path;
alter function dlq.create_message_partition(timestamptz)       security invoker reset search_path;
alter function dlq.ensure_message_partition(uuid)              security invoker reset search_path;

alter table dlq.dlq_messages alter column next_retry_at drop default;
do $$
declare
    v_table regclass;
begin
    for v_table in
        select 'dlq.dlq_messages'::regclass
        union all
        select inhrelid from pg_inherits where inhparent = 'dlq.dlq_messages'::regclass
    loop
        execute format('drop trigger if exists trg_dlq_messages_schedule on %s', v_table);
    end loop;
end;
$$;
drop trigger trg_dlq_messages_updated_at on dlq.dlq_messages;
create trigger trg_dlq_messages_updated_at
    before update on dlq.dlq_messages
    for each row
    execute function dlq.update_updated_at();
drop function dlq.schedule_inserted();
