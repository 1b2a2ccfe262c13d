-- A message that its route holds is sent only when somebody asks. An application's lease that ended, or its failure, gave such
-- a message a time all the same, and then it was claimed again.

-- After this time others go on, and the migration is run again.
set local lock_timeout = '800ms';

-- Only these words of the functions change.
do $do$
declare
    v_change record;
    v_text   text;
begin
    for v_change in select * from (values
        ('dlq.claim_messages(text, int, interval, int)',
         'and m.run_id is null', 'and m.run_id is null and (m.retry_requested or not m.held_by_route)'),
        ('dlq.fail_message(uuid, uuid, text, text, text, interval)',
         'next_retry_at = case when m.retry_count >= m.max_retries then null',
         'next_retry_at = case when m.retry_count >= m.max_retries or m.held_by_route then null'),
        ('dlq.release_messages(uuid[], uuid)',
         'next_retry_at = clock_timestamp()',
         'next_retry_at = case when m.retry_requested or not m.held_by_route then clock_timestamp() end'),
        ('dlq.expire_leases(text, int)',
         'case when e.retry_count < e.max_retries then', 'case when e.retry_count < e.max_retries and not m.held_by_route then')
    ) as change (routine, old, new) loop
        v_text := pg_get_functiondef(v_change.routine::regprocedure);
        if position(v_change.old in v_text) = 0 then
            raise exception '% is not the one of migration 057', v_change.routine;
        end if;
        execute replace(v_text, v_change.old, v_change.new);
    end loop;
end;
$do$;
