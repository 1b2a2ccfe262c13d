-- Loses the proofs, what later copies are recognised by, and which messages were erased; what was erased stays so.
-- Runs of kind erase are deleted.
set local lock_timeout = '5s';

do $$
declare
    v_function regprocedure;
begin
    foreach v_function in array array[
        'dlq.archive_messages(uuid[], timestamptz, timestamptz)'::regprocedure, 'dlq.restore_messages(uuid[])'] loop
        execute replace(pg_get_functiondef(v_function), ', erased_at', '');
    end loop;
end;
$$;
drop function if exists dlq.erase_reads(uuid, uuid[], text[]);
drop function if exists dlq.erase_audit(uuid, text, text[]);
alter table dlq.dlq_audit drop column if exists erased_by;
drop table if exists dlq.dlq_erase_items;
drop table if exists dlq.dlq_erasure_keys;
drop table if exists dlq.dlq_erasures;
delete from dlq.dlq_runs where kind = 'erase';
alter table dlq.dlq_runs
    drop constraint if exists chk_dlq_runs_erase_mode,
    drop column if exists proof,
    drop column if exists erase_mode,
    drop constraint if exists chk_dlq_runs_kind,
    add constraint chk_dlq_runs_kind check (
        kind in ('retry', 'redirect', 'dead', 'revive', 'delete', 'archive', 'restore', 'purge', 'edit'));
drop view if exists dlq.observed_messages, dlq.observed_messages_archive;
alter table dlq.dlq_messages_archive drop column if exists erased_at;
alter table dlq.dlq_messages drop column if exists erased_at;
-- As in 034.
create view dlq.observed_messages as
    select id, original_topic, status, retry_count, max_retries, created_at, updated_at, last_retry_at, next_retry_at,
           dlq_cluster, dlq_topic, dlq_partition, dlq_offset, original_partition, original_offset, original_timestamp,
           original_topic_source, consumer_group, record_timestamp, record_timestamp_type, record_source, group_id,
           failure_count, first_failed_at, last_failed_at, run_id, successor_of, related_to, held_by_route, retry_requested, target_topic, edits
    from dlq.dlq_messages;

create view dlq.observed_messages_archive as
    select id, original_topic, status, retry_count, max_retries, created_at, updated_at, last_retry_at, next_retry_at,
           dlq_cluster, dlq_topic, dlq_partition, dlq_offset, original_partition, original_offset, original_timestamp,
           original_topic_source, consumer_group, record_timestamp, record_timestamp_type, record_source, group_id,
           failure_count, first_failed_at, last_failed_at, run_id, successor_of, related_to, held_by_route, retry_requested, target_topic, edits,
           archived_at
    from dlq.dlq_messages_archive;
select dlq.apply_grants();
