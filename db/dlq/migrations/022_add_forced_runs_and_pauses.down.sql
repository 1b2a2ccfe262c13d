-- Loses the topics' pauses, the undo of runs, the times of their steps, and the runs of kinds revive and restore. A
-- forced run that has not ended goes on as any other.
-- As in 021.
create or replace function dlq.claim_messages(
    p_topic       text,
    p_limit       int      default 50,
    p_lease       interval default '5 minutes',
    p_max_retries int      default null
) returns table (
    id uuid, lease_token uuid, lease_until timestamptz, original_topic text, payload jsonb,
    record_key bytea, record_value bytea, record_headers json, error_class text, error_message text, error_stacktrace text,
    retry_count int, max_retries int, created_at timestamptz
)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_token  uuid := gen_random_uuid();
    v_policy record;
begin
    perform dlq.require(p_topic is not null, 'p_topic must name a topic');
    perform dlq.require_sql_grant('pull', p_topic);
    perform dlq.require(p_limit between 1 and 1000, 'p_limit must be from 1 to 1000');
    perform dlq.require(p_lease between interval '1 second' and interval '1 day', 'p_lease must be from 1 second to 1 day');
    perform dlq.require(coalesce(p_max_retries, 1) between 1 and 1000, 'p_max_retries must be from 1 to 1000');
    select * into v_policy from dlq.policy_of(p_topic);
    if v_policy.delivery <> 'pull' then
        raise exception 'topic % is retried by the retriers: a policy of it in dlq.dlq_policies must say delivery = ''pull'' first', p_topic
            using errcode = 'object_not_in_prerequisite_state';
    end if;
    perform dlq.expire_leases(p_topic, 1000);
    if v_policy.paused then
        return;
    end if;
    return query
        -- "materialized" keeps limit and row locks in one place, evaluated once.
        with due as materialized (
            select m.id
            from dlq.dlq_messages m
            where m.original_topic = p_topic and m.status = 'PENDING' and m.next_retry_at <= clock_timestamp()
              -- What a run holds is not due by itself; without this the index of due messages would not serve.
              and m.run_id is null
              and m.retry_count < coalesce(p_max_retries, m.max_retries)
            order by m.next_retry_at, m.id
            limit p_limit
            for update skip locked
        )
        update dlq.dlq_messages m set
            status = 'RETRYING', retry_count = m.retry_count + 1, max_retries = coalesce(p_max_retries, m.max_retries),
            last_retry_at = clock_timestamp(), lease_token = v_token, lease_until = clock_timestamp() + p_lease
        from due where m.id = due.id
        returning m.id, m.lease_token, m.lease_until, m.original_topic::text, m.payload, m.record_key, m.record_value, m.record_headers,
            m.error_class, m.error_message, m.error_stacktrace, m.retry_count, m.max_retries, m.created_at;
end;
$$;
drop table if exists dlq.dlq_topic_pauses;
drop table if exists dlq.dlq_run_undo;
delete from dlq.dlq_runs where kind in ('revive', 'restore');
alter table dlq.dlq_runs
    drop constraint if exists chk_dlq_runs_kind,
    add constraint chk_dlq_runs_kind check (kind in ('retry', 'redirect', 'dead', 'delete', 'archive', 'purge', 'edit')),
    drop column if exists is_forced,
    drop column if exists step_entered_at,
    drop column if exists judged_at,
    drop column if exists saga_id;
