-- dlq.drop_message_partition() left behind what other tables say of the messages. Their attempts stayed for ever, with the
-- texts of errors, where no erasure finds them; and retriers went on looking for newer records of their keys.

set local lock_timeout = '800ms';

-- Drops a partition of messages with what is in it and what other tables say of it, and takes it off the counts. Returns
-- how many messages that were. A partition dropped or detached otherwise stays in the counts until the next reconciliation.
create or replace function dlq.drop_message_partition(p_partition regclass) returns bigint
language plpgsql
set lock_timeout = '1s'
as $$
declare
    v_dropped bigint;
    v_first   uuid;
    v_last    uuid;
    v_table   text;
begin
    perform dlq.require_read_committed('dlq.drop_message_partition');
    if not exists (select from pg_inherits where inhrelid = p_partition and inhparent = 'dlq.dlq_messages'::regclass) then
        raise exception '% is no partition of dlq.dlq_messages', p_partition using errcode = 'wrong_object_type';
    end if;
    -- Twice: nearly all of it while others work, and the rest while nobody can add any more.
    for v_round in 1..2 loop
        if v_round = 2 then
            -- From the parent down, as everybody locks them; nobody can add a row any more.
            lock table only dlq.dlq_messages in access exclusive mode;
            execute format('lock table %s in access exclusive mode', p_partition);
        end if;
        execute format('select (select id from %1$s order by id limit 1), (select id from %1$s order by id desc limit 1)', p_partition)
            into v_first, v_last;
        foreach v_table in array array[
            'dlq_attempts', 'dlq_message_edits', 'dlq_message_origins', 'dlq_staleness', 'dlq_siblings',
            'dlq_idempotency_keys', 'dlq_run_skipped', 'dlq_run_undo', 'dlq_group_probes'
        ] loop
            -- Along their indexes by the range; each row is then looked up.
            execute format('
                delete from dlq.%I named
                where message_id between $1 and $2 and exists (select from %s m where m.id = named.message_id)',
                v_table, p_partition) using v_first, v_last;
        end loop;
    end loop;
    execute format('
        with counted as (
            insert into dlq.dlq_summary_deltas (dlq_topic, original_topic, consumer_group, group_id, status, change)
            select dlq_topic, original_topic, consumer_group, group_id, status, -count(*)
            from %s
            group by dlq_topic, original_topic, consumer_group, group_id, status
            returning change
        )
        select coalesce(-sum(change), 0) from counted', p_partition) into v_dropped;
    execute format('drop table %s', p_partition);
    return v_dropped;
end;
$$;
