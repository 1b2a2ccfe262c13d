-- Loses the views of dlq_observer. The role stays: other databases of the cluster may have it.
set local lock_timeout = '5s';

drop view if exists dlq.observed_attempts;
drop view if exists dlq.observed_messages_archive;
drop view if exists dlq.observed_messages;

-- As in 026.
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
    for v_role in select rolname from pg_roles where rolname in ('dlq_writer', 'dlq_reader', 'dlq_app', 'dlq_admin') loop
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
            else
                grant select, insert, update, delete on all tables in schema dlq to dlq_admin;
                revoke update, delete on dlq.dlq_audit from dlq_admin;
                revoke insert, update, delete on dlq.dlq_audit_days from dlq_admin;
                grant usage on all sequences in schema dlq to dlq_admin;
                grant execute on all routines in schema dlq to dlq_admin;
                revoke execute on function dlq.forget_audit(timestamptz, int) from dlq_admin;
        end case;
    end loop;
end;
$$;

do $$
begin
    if exists (select from pg_roles where rolname = 'dlq_observer') then
        revoke all on schema dlq from dlq_observer;
    end if;
    if exists (select from pg_roles where rolname = 'dlq_admin') then
        grant update, delete on dlq.dlq_reads to dlq_admin;
    end if;
end;
$$;
