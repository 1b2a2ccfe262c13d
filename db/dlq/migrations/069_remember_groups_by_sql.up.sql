-- An application that reports another error takes its message out of its error group, and nobody knew that group any more
-- (066): where the message was erased, the group kept its text.

-- After this time others go on, and the migration is run again.
set local lock_timeout = '800ms';

-- Only these words of the function change.
do $do$
declare
    v_change record;
    v_text   text := pg_get_functiondef('dlq.fail_message(uuid, uuid, text, text, text, interval)'::regprocedure);
begin
    for v_change in select * from (values
        ('v_status text;',
         E'v_status text;\n    v_group  uuid := (select m.group_id from dlq.dlq_messages m where m.id = p_id and m.lease_token = p_token for update);'),
        ('m.retry_count, m.last_retry_at',
         'm.retry_count, m.last_retry_at, m.group_id'),
        ('started_at, settled_at)',
         'started_at, settled_at, failed_groups)'),
        ('last_retry_at, now()',
         E'last_retry_at, now(),\n               case when group_id is null and v_group is not null then array[v_group] end'),
        ('settled_at = excluded.settled_at',
         'settled_at = excluded.settled_at, failed_groups = excluded.failed_groups')
    ) as change (old, new) loop
        if position(v_change.old in v_text) = 0 then
            raise exception 'dlq.fail_message is not the one of migration 065';
        end if;
        v_text := replace(v_text, v_change.old, v_change.new);
    end loop;
    execute v_text;
end;
$do$;
