-- The roles lose their rights here, and stay: other databases may use them, and who belongs to them would be
-- forgotten.
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
end;
$$;
drop function if exists dlq.apply_grants();
