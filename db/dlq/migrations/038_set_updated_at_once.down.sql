-- Loses nothing.

set local lock_timeout = '5s';

drop trigger trg_dlq_messages_updated_at on dlq.dlq_messages;
create trigger trg_dlq_messages_updated_at
    before update on dlq.dlq_messages
    for each row
    when (old.next_retry_at is distinct from '-infinity'
        and not (old.payload is null and new.payload is not null and old.record_value is not null
            and old.record_value is not distinct from new.record_value and old.edits = new.edits and old.status = new.status
            and old.next_retry_at is not distinct from new.next_retry_at and old.target_topic is not distinct from new.target_topic))
    execute function dlq.update_updated_at();
