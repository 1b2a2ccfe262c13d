-- no-transaction
-- Fewer and smaller index entries for each message that is stored, claimed and settled
-- (infra/docs/decisions/067-fewer-indexes.md). Each index is built while everything works, and then takes the place of
-- the former one of its name; partition by partition (db/partitioned-index.ts).

-- Beside lists of an original topic, it serves those of a DLQ topic, and those of a status over all topics: along each
-- original topic that has such messages by the summary. The DLQ topic is tested in the index.
create index concurrently idx_dlq_messages_original_topic on dlq.dlq_messages (original_topic, status, id) include (dlq_topic);

-- Of all statuses, operators ask over all topics for DEAD most. Claiming and settling write no entry of it.
create index concurrently idx_dlq_messages_status on dlq.dlq_messages (status, id) where status = 'DEAD';

set lock_timeout = '5s';

drop index if exists dlq.idx_dlq_messages_dlq_topic;

reset lock_timeout;
