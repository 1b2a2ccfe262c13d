-- Loses nothing.

set local lock_timeout = '5s';

drop index dlq.idx_dlq_attempts_settled_at;
create index idx_dlq_attempts_settled_at on dlq.dlq_attempts using brin (settled_at) with (autosummarize = on);
