-- A role for who may see what becomes of messages, and nothing of what they hold: no keys, values, headers and errors.

set local lock_timeout = '5s';

-- Roles belong to the whole cluster of databases: another one may have made it, or be making it now.
do $$
begin
    create role dlq_observer nologin;
exception
    when duplicate_object or unique_violation then
        null;
    when insufficient_privilege then
        raise notice 'role dlq_observer is missing and could not be made: make it, then call dlq.apply_grants()';
end;
$$;

-- A column that is added to these tables is seen here once a later migration says so (db/roles.pg.test.ts).
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

create view dlq.observed_attempts as
    select message_id, number, attempt_id, actor, run_id, slot, target_topic, target_partition, target_offset, outcome,
           started_at, settled_at, unknown_at, failed_again_at, failed_again_cluster, failed_again_topic,
           failed_again_partition, failed_again_offset, error_changed, confirmed_at, confirmed_by
    from dlq.dlq_attempts;

-- As in 026, with dlq_observer; and nobody but the owner changes or deletes the record of a read.
create or replace function dlq.apply_grants() returns void
language plpgsql
as $$
declare
    v_dead_letter constant text := 'dlq.dead_letter(text, jsonb, text, text, text, bytea, text, jsonb, text, interval, int)';
    v_pull constant text := 'dlq.claim_messages(text, int, interval, int), dlq.resolve_messages(uuid[], uuid),
        dlq.fail_message(uuid, uuid, text, text, text, interval), dlq.release_messages(uuid[], uuid),
        dlq.extend_leases(uuid[], uuid, interval),
        dlq.begin_pass(text, text, interval), dlq.extend_pass(text, text, interval), dlq.end_pass(text, text, interval)';
    v_role name;
begin
    revoke execute on all routines in schema dlq from public;
    -- Defaults of columns run as whoever inserts.
    grant execute on function dlq.new_message_id(), dlq.uuid_floor(timestamptz) to public;
    for v_role in select rolname from pg_roles where rolname in ('dlq_writer', 'dlq_reader', 'dlq_app', 'dlq_admin', 'dlq_observer') loop
        execute format('grant usage on schema dlq to %I', v_role);
        case v_role
            when 'dlq_writer' then
                execute format('grant execute on function %s to dlq_writer', v_dead_letter);
            when 'dlq_app' then
                execute format('grant execute on function %s, %s to dlq_app', v_dead_letter, v_pull);
            when 'dlq_reader' then
                grant select on all tables in schema dlq to dlq_reader;
                grant execute on function dlq.whole_stack_trace(text, uuid), dlq.stack_trace(dlq.dlq_messages),
                    dlq.stack_trace(dlq.dlq_messages_archive) to dlq_reader;
            when 'dlq_observer' then
                grant select on dlq.observed_messages, dlq.observed_messages_archive, dlq.observed_attempts to dlq_observer;
            else
                grant select, insert, update, delete on all tables in schema dlq to dlq_admin;
                revoke update, delete on dlq.dlq_audit from dlq_admin;
                revoke insert, update, delete on dlq.dlq_audit_days from dlq_admin;
                revoke update, delete on dlq.dlq_reads from dlq_admin;
                grant usage on all sequences in schema dlq to dlq_admin;
                grant execute on all routines in schema dlq to dlq_admin;
                revoke execute on function dlq.forget_audit(timestamptz, int) from dlq_admin;
        end case;
    end loop;
end;
$$;

select dlq.apply_grants();
