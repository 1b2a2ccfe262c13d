-- A message that fails again with another error changes its error group, and nobody knew the one before any more: where
-- the message was erased, that group kept its text. Each failure notes the groups that it has changed.

-- After this time others go on, and the migration is run again.
set local lock_timeout = '800ms';

-- The archive's functions name the columns of the attempts (012): in their texts the list becomes the longer one.
do $outer$
declare
    v_old  text := (
        select string_agg(quote_ident(attname), ', ' order by attnum) from pg_attribute
        where attrelid = 'dlq.dlq_attempts'::regclass and attnum > 0 and not attisdropped);
    v_name regproc;
    v_text text;
begin
    -- The message's group before the failure, and the failure's own; null where they are the same.
    alter table dlq.dlq_attempts add column failed_groups uuid[];
    alter table dlq.dlq_attempts_archive add column failed_groups uuid[];
    foreach v_name in array array['dlq.archive_messages', 'dlq.restore_messages']::regproc[] loop
        v_text := pg_get_functiondef(v_name);
        if position(v_old in v_text) = 0 then
            raise exception '% does not name the columns of dlq_attempts', v_name;
        end if;
        execute replace(v_text, v_old, v_old || ', failed_groups');
    end loop;
end;
$outer$;

-- All groups that the message was in; group_id is the last one.
alter table dlq.dlq_erase_items add column group_ids uuid[];

-- What became of attempts, without the texts of errors (034).
create or replace view dlq.observed_attempts as
    select message_id, number, attempt_id, actor, run_id, slot, target_topic, target_partition, target_offset, outcome,
           started_at, settled_at, unknown_at, failed_again_at, failed_again_cluster, failed_again_topic,
           failed_again_partition, failed_again_offset, error_changed, confirmed_at, confirmed_by, failed_groups
    from dlq.dlq_attempts;
