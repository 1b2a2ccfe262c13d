-- Loses where payloads are still to be stored: those messages keep none. Policies that say "auto" say "stored".

set local lock_timeout = '5s';

drop trigger trg_dlq_messages_updated_at on dlq.dlq_messages;
create trigger trg_dlq_messages_updated_at
    before update on dlq.dlq_messages
    for each row
    when (old.next_retry_at is distinct from '-infinity')
    execute function dlq.update_updated_at();

drop table dlq.dlq_deferred_payloads;

do $$
begin
    -- Only if there are any: services read all policies again after each such statement.
    if exists (select from dlq.dlq_policies where payload = 'auto') then
        update dlq.dlq_policies set payload = 'stored' where payload = 'auto';
    end if;
end;
$$;
alter table dlq.dlq_policies drop constraint if exists chk_dlq_policies_payload;
alter table dlq.dlq_policies add constraint chk_dlq_policies_payload check (payload in ('stored', 'derived'));
