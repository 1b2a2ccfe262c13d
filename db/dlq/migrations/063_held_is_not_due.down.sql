-- Loses nothing.

set local lock_timeout = '800ms';

do $do$
declare
    v_change record;
begin
    for v_change in select * from (values
        ('dlq.claim_messages(text, int, interval, int)',
         'and m.run_id is null and (m.retry_requested or not m.held_by_route)', 'and m.run_id is null'),
        ('dlq.fail_message(uuid, uuid, text, text, text, interval)',
         'next_retry_at = case when m.retry_count >= m.max_retries or m.held_by_route then null',
         'next_retry_at = case when m.retry_count >= m.max_retries then null'),
        ('dlq.release_messages(uuid[], uuid)',
         'next_retry_at = case when m.retry_requested or not m.held_by_route then clock_timestamp() end',
         'next_retry_at = clock_timestamp()'),
        ('dlq.expire_leases(text, int)',
         'case when e.retry_count < e.max_retries and not m.held_by_route then', 'case when e.retry_count < e.max_retries then')
    ) as change (routine, new, old) loop
        execute replace(pg_get_functiondef(v_change.routine::regprocedure), v_change.new, v_change.old);
    end loop;
end;
$do$;
