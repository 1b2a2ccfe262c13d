-- Loses the schemas that the registries gave, and which values were decoded with them. Payloads that were decoded stay.
do $$
declare
    v_function regprocedure;
begin
    foreach v_function in array array[
        'dlq.archive_messages(uuid[], timestamptz, timestamptz)'::regprocedure, 'dlq.restore_messages(uuid[])'] loop
        execute replace(pg_get_functiondef(v_function), ', value_schema, decode_state', '');
    end loop;
end;
$$;
alter table dlq.dlq_messages_archive drop column if exists value_schema, drop column if exists decode_state;
alter table dlq.dlq_messages drop column if exists value_schema, drop column if exists decode_state;
drop table if exists dlq.dlq_schemas;
