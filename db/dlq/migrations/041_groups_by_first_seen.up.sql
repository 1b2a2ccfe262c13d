-- Error groups in the order in which they were first seen (GET /api/v1/groups?sort=first_seen). The column never changes.

create index idx_dlq_groups_first_seen_at on dlq.dlq_groups (first_seen_at, id);
