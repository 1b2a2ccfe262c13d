-- Loses the runs, and with them what became of the messages that they sent; what a run holds is due by itself again.
drop index if exists dlq.idx_dlq_attempts_run;
drop index if exists dlq.idx_dlq_messages_run;
drop index if exists dlq.idx_dlq_messages_due;
create index idx_dlq_messages_due on dlq.dlq_messages (original_topic, next_retry_at, id)
    where status = 'PENDING' and next_retry_at is not null;
drop table if exists dlq.dlq_run_skipped;
drop table if exists dlq.dlq_run_deltas;
drop table if exists dlq.dlq_runs;
