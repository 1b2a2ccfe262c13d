-- no-transaction
-- Loses nothing.

drop index concurrently if exists dlq.idx_dlq_attempts_settled_at;
create index concurrently idx_dlq_attempts_settled_at on dlq.dlq_attempts using brin (settled_at) with (autosummarize = on);
drop index concurrently if exists dlq.idx_dlq_attempts_settled;
