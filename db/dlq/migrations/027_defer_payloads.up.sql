-- "payload: auto": while an ingester works off a backlog, it stores records without the projection `payload`, a third of a
-- row's cost. A job of the retriers stores it afterwards (infra/docs/decisions/045-fewer-touches.md).

set local lock_timeout = '5s';

alter table dlq.dlq_policies drop constraint if exists chk_dlq_policies_payload;
alter table dlq.dlq_policies add constraint chk_dlq_policies_payload check (payload in ('stored', 'derived', 'auto'));

-- Where messages are whose payload is still to be stored: one row per partition of a DLQ topic, for a range of ids, in which
-- there are other messages, too. A column of the messages would need an index, and each would be written once more.
create table dlq.dlq_deferred_payloads (
    cluster    text        not null,
    topic      text        not null,
    partition  int         not null,
    -- The first id, and the last one.
    from_id    uuid        not null,
    until_id   uuid        not null,
    updated_at timestamptz not null default now(),

    constraint dlq_deferred_payloads_pkey primary key (cluster, topic, partition)
) with (
    -- Few rows, written with every batch of a backlog.
    fillfactor = 20
);

-- As in 024. Nor is it a change that the payload of a record is stored later: ETags and the archive go by updated_at.
drop trigger trg_dlq_messages_updated_at on dlq.dlq_messages;
create trigger trg_dlq_messages_updated_at
    before update on dlq.dlq_messages
    for each row
    when (old.next_retry_at is distinct from '-infinity'
        and not (old.payload is null and new.payload is not null and old.record_value is not null
            and old.record_value is not distinct from new.record_value and old.edits = new.edits and old.status = new.status
            and old.next_retry_at is not distinct from new.next_retry_at and old.target_topic is not distinct from new.target_topic))
    execute function dlq.update_updated_at();

select dlq.apply_grants();
