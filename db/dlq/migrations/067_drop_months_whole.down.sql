-- Loses nothing.

set local lock_timeout = '800ms';

create or replace function dlq.drop_message_partition(p_partition regclass) returns bigint
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
    execute format('delete from dlq.dlq_message_origins e where exists (select from %s m where m.id = e.message_id)', p_partition);
        execute format('delete from dlq.dlq_message_edits e where exists (select from %s m where m.id = e.message_id)', p_partition);
    execute format('drop table %s', p_partition);
    return v_dropped;
end;
$$;
