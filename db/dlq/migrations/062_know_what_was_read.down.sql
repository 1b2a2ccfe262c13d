-- Loses where positions stood before they were reset: archived messages below are stored again when they are read again.

set local lock_timeout = '800ms';

do $do$
begin
    execute replace(pg_get_functiondef('dlq.restore_messages(uuid[])'::regprocedure),
        E'from gone order by archived_at desc\n    on conflict (id) do nothing\n    returning id;',
        E'from gone\n    returning id;');
end;
$do$;

alter table dlq.dlq_positions drop column stored_below;
