-- no-transaction
-- The newest attempts first (GET /api/v1/attempts). The BRIN index of 013 finds stretches of time and sorts nothing.

-- What a migration that was interrupted may have left.
drop index concurrently if exists dlq.idx_dlq_attempts_settled;
-- The time alone: all attempts of one transaction have the same, and so share an entry.
create index concurrently idx_dlq_attempts_settled on dlq.dlq_attempts (settled_at) where settled_at is not null;
drop index concurrently if exists dlq.idx_dlq_attempts_settled_at;
