-- no-transaction
-- Loses nothing.

drop index concurrently if exists dlq.idx_dlq_attempts_failed_again_topic;
