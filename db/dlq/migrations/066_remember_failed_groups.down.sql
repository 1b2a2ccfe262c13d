-- Loses which error groups a message was in before it failed again.
set local lock_timeout = '800ms';

alter table dlq.dlq_erase_items drop column group_ids;
do $outer$
declare
    v_name regproc;
begin
    foreach v_name in array array['dlq.archive_messages', 'dlq.restore_messages']::regproc[] loop
        execute replace(pg_get_functiondef(v_name), ', failed_groups', '');
    end loop;
end;
$outer$;
drop view dlq.observed_attempts;
alter table dlq.dlq_attempts_archive drop column failed_groups;
alter table dlq.dlq_attempts drop column failed_groups;

-- As in 034.
create view dlq.observed_attempts as
    select message_id, number, attempt_id, actor, run_id, slot, target_topic, target_partition, target_offset, outcome,
           started_at, settled_at, unknown_at, failed_again_at, failed_again_cluster, failed_again_topic,
           failed_again_partition, failed_again_offset, error_changed, confirmed_at, confirmed_by
    from dlq.dlq_attempts;

select dlq.apply_grants();
