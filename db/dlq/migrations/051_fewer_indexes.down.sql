-- no-transaction
-- Loses nothing. The former indexes are built while everything works, as in the other direction.

create index concurrently idx_dlq_messages_dlq_topic on dlq.dlq_messages (dlq_topic, status, id);

create index concurrently idx_dlq_messages_status on dlq.dlq_messages (status, id);
