-- no-transaction
-- The newest re-failures of each DLQ topic: the thousands of one hide no error group of another, whose retries are to be
-- paused. Only an attempt that failed again has an entry.

-- What a migration that was interrupted may have left.
drop index concurrently if exists dlq.idx_dlq_attempts_failed_again_topic;
create index concurrently idx_dlq_attempts_failed_again_topic on dlq.dlq_attempts (failed_again_topic, failed_again_at)
    where failed_again_at is not null;
