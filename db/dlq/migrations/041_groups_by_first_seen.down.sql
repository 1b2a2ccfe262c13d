-- Loses nothing.

drop index dlq.idx_dlq_groups_first_seen_at;
