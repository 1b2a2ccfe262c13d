-- Loses nothing.

set local lock_timeout = '800ms';

do $do$
declare
    v_change record;
    v_text   text := pg_get_functiondef('dlq.fail_message(uuid, uuid, text, text, text, interval)'::regprocedure);
begin
    for v_change in select * from (values
        (E'v_status text;\n    v_group  uuid := (select m.group_id from dlq.dlq_messages m where m.id = p_id and m.lease_token = p_token for update);',
         'v_status text;'),
        ('m.retry_count, m.last_retry_at, m.group_id',
         'm.retry_count, m.last_retry_at'),
        ('started_at, settled_at, failed_groups)',
         'started_at, settled_at)'),
        (E'last_retry_at, now(),\n               case when group_id is null and v_group is not null then array[v_group] end',
         'last_retry_at, now()'),
        ('settled_at = excluded.settled_at, failed_groups = excluded.failed_groups',
         'settled_at = excluded.settled_at')
    ) as change (new, old) loop
        v_text := replace(v_text, v_change.new, v_change.old);
    end loop;
    execute v_text;
end;
$do$;
