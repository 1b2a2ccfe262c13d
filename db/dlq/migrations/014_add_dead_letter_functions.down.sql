-- Applications can dead-letter and pull no more; what they have stored stays. The roles stay as well: other
-- databases may use them, and who belongs to them would be forgotten.
do $$
declare
    v_role name;
begin
    for v_role in select rolname from pg_roles where rolname in ('dlq_writer', 'dlq_reader', 'dlq_app', 'dlq_admin') loop
        execute format('revoke all on all tables in schema dlq from %I', v_role);
        execute format('revoke all on all sequences in schema dlq from %I', v_role);
        execute format('revoke all on all routines in schema dlq from %I', v_role);
        execute format('revoke all on schema dlq from %I', v_role);
    end loop;
    grant execute on all routines in schema dlq to public;
end;
$$;
drop function if exists dlq.apply_grants();
drop function if exists dlq.end_pass(text, text, interval);
drop function if exists dlq.extend_pass(text, text, interval);
drop function if exists dlq.begin_pass(text, text, interval);
drop function if exists dlq.extend_leases(uuid[], uuid, interval);
drop function if exists dlq.release_messages(uuid[], uuid);
drop function if exists dlq.fail_message(uuid, uuid, text, text, text, interval);
drop function if exists dlq.resolve_messages(uuid[], uuid);
drop function if exists dlq.claim_messages(text, int, interval, int);
drop function if exists dlq.expire_leases(text, int);
drop function if exists dlq.dead_letter(text, jsonb, text, text, text, bytea, text, jsonb, text, interval, int);
drop function if exists dlq.require(boolean, text);
drop function if exists dlq.attempt_id(uuid, int);
drop function if exists dlq.next_retry_at(text, int, timestamptz);
drop function if exists dlq.policy_of(text);
drop index if exists dlq.idx_dlq_messages_ungrouped;
