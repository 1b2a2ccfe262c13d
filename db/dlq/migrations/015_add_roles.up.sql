-- Who may do what: four roles, beside the owner as which the services connect.

-- Roles belong to the whole cluster of databases: another one may have made them, or be making them now.
do $$
declare
    v_role text;
begin
    foreach v_role in array array['dlq_writer', 'dlq_reader', 'dlq_app', 'dlq_admin'] loop
        begin
            execute format('create role %I nologin', v_role);
        exception
            when duplicate_object or unique_violation then
                null;
            when insufficient_privilege then
                raise notice 'role % is missing and could not be made: make it, then call dlq.apply_grants()', v_role;
        end;
    end loop;
end;
$$;

-- Gives the roles exactly what they are for, and everybody else nothing. For after every migration, since a
-- new function may be called by anybody until then. Roles that are missing are passed over.
--   dlq_writer  may dead-letter, and see nothing
--   dlq_reader  may read everything, payloads included
--   dlq_app     may dead-letter, and handle the dead letters of topics whose policy says "pull"
--   dlq_admin   may change everything but the schema
create function dlq.apply_grants() returns void
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
            else
                grant select, insert, update, delete on all tables in schema dlq to dlq_admin;
                grant usage on all sequences in schema dlq to dlq_admin;
                grant execute on all routines in schema dlq to dlq_admin;
        end case;
    end loop;
end;
$$;

select dlq.apply_grants();
