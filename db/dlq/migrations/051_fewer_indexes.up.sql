-- no-transaction
-- Fewer index entries for each message that is stored, claimed and settled (infra/docs/decisions/067-fewer-indexes.md).
-- The index is built while everything works, and then takes the place of the former one of its name; partition by
-- partition (db/partitioned-index.ts). Lists of a DLQ topic, and those of a status over all topics, go along each original
-- topic that has such messages by the summary.

-- Of all statuses, operators ask over all topics for DEAD most. Claiming and settling write no entry of it.
create index concurrently idx_dlq_messages_status on dlq.dlq_messages (status, id) where status = 'DEAD';

set lock_timeout = '5s';

drop index if exists dlq.idx_dlq_messages_dlq_topic;

reset lock_timeout;
