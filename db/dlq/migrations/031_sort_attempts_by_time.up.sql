-- The newest attempts first (GET /api/v1/attempts). The BRIN index of 013 finds stretches of time and sorts nothing.
-- Retries wait while the index is made: about half a second for a million attempts.

set local lock_timeout = '5s';

drop index dlq.idx_dlq_attempts_settled_at;
-- The time alone: all attempts of one transaction have the same, and so share one entry.
create index idx_dlq_attempts_settled_at on dlq.dlq_attempts (settled_at) where settled_at is not null;
