-- Loses what runs wait for, and redirects that are named per message.
set local lock_timeout = '5s';

alter table dlq.dlq_runs drop column if exists max_lag;
-- A statement that changes no row still tells all services to read their policies again.
do $$
begin
    if exists (select from dlq.dlq_policies where redirect_topic like '%{%') then
        update dlq.dlq_policies set redirect_topic = null where redirect_topic like '%{%';
    end if;
end;
$$;
alter table dlq.dlq_policies drop constraint if exists chk_dlq_policies_redirect_topic;
alter table dlq.dlq_policies add constraint chk_dlq_policies_redirect_topic
    check (redirect_topic ~ '^[A-Za-z0-9._-]{0,249}$' and redirect_topic not in ('.', '..'));
