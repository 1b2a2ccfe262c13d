-- Loses the policies' "scrub", and which messages something was taken out of; what was taken out stays so. Runs of kind
-- origin are deleted.
set local lock_timeout = '5s';

do $$
declare
    v_function regprocedure;
begin
    foreach v_function in array array[
        'dlq.archive_messages(uuid[], timestamptz, timestamptz)'::regprocedure, 'dlq.restore_messages(uuid[])'] loop
        execute replace(pg_get_functiondef(v_function), ', is_scrubbed', '');
    end loop;
end;
$$;
do $$
declare
    v_name text;
    v_text text;
begin
    foreach v_name in array array['dlq.observed_messages', 'dlq.observed_messages_archive'] loop
        v_text := regexp_replace(pg_get_viewdef(v_name::regclass), ',\s+(\w+\.)?is_scrubbed', '');
        execute format('drop view %s', v_name);
        execute format('create view %s as %s', v_name, v_text);
    end loop;
end;
$$;
delete from dlq.dlq_runs where kind = 'origin';
alter table dlq.dlq_runs
    drop column if exists compared,
    drop column if exists adopts,
    drop constraint if exists chk_dlq_runs_kind,
    add constraint chk_dlq_runs_kind check (
        kind in ('retry', 'redirect', 'dead', 'revive', 'delete', 'archive', 'restore', 'purge', 'edit', 'erase'));
alter table dlq.dlq_policies drop column if exists scrub;
alter table dlq.dlq_messages_archive drop column if exists is_scrubbed;
alter table dlq.dlq_messages drop column if exists is_scrubbed;
select dlq.apply_grants();
