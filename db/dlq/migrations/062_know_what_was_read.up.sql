-- Somebody may set the position of a partition back, to have records read again. Those of archived messages were stored and
-- sent once more then, and their second rows stopped the partition at the next failure. Now the ingester knows up to where
-- it has to look.

-- After this time others go on, and the migration is run again.
set local lock_timeout = '800ms';

-- Where the position was before it was reset; null: nobody has.
alter table dlq.dlq_positions add column stored_below bigint;

-- A message may have two rows by now: the newest one counts, and one that is not in the archive counts before all.
do $do$
declare
    v_old constant text := E'from gone\n    returning id;';
    v_new constant text := E'from gone order by archived_at desc\n    on conflict (id) do nothing\n    returning id;';
    v_text text := pg_get_functiondef('dlq.restore_messages(uuid[])'::regprocedure);
begin
    if position(v_old in v_text) = 0 then
        raise exception 'dlq.restore_messages is not the one of migration 053';
    end if;
    execute replace(v_text, v_old, v_new);
end;
$do$;
