-- Loses what was compared with originals, and the policies' "record". Messages that were held stay unscheduled.
set local lock_timeout = '5s';

do $$
declare
    v_function regprocedure;
begin
    foreach v_function in array array[
        'dlq.archive_messages(uuid[], timestamptz, timestamptz)'::regprocedure, 'dlq.restore_messages(uuid[])'] loop
        execute replace(pg_get_functiondef(v_function), ', origin_state', '');
    end loop;
end;
$$;
do $$
declare
    v_name regproc;
begin
    foreach v_name in array array['dlq.drop_archived_quarter', 'dlq.drop_message_partition']::regproc[] loop
        execute regexp_replace(pg_get_functiondef(v_name),
            'execute format\(''delete from dlq\.dlq_message_origins e [^;]*;\s*', '');
    end loop;
end;
$$;
drop table if exists dlq.dlq_message_origins;
alter table dlq.dlq_policies drop column if exists record;
alter table dlq.dlq_messages_archive drop column if exists origin_state;
alter table dlq.dlq_messages drop column if exists origin_state;
