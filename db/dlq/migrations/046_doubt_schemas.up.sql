-- A registry that was set up anew gives old ids new meanings. A known schema that a value does not fit is asked for again,
-- once a day at most, and whenever somebody says so (POST /api/v1/schemas/:id/refresh).

set local lock_timeout = '5s';

alter table dlq.dlq_schemas
    -- When a known schema is asked for again. Null: nobody doubts it. One that is asked for again is not doubted by
    -- itself before next_try_at.
    add column recheck_at timestamptz;

create index idx_dlq_schemas_recheck on dlq.dlq_schemas (recheck_at) where recheck_at is not null;
