-- Who executes jobs, and what the cron jobs did.

-- One row per pool of graphile-worker that lives; its id is what jobs are locked by. graphile-worker itself
-- gives a dead worker's jobs back after four hours; with this table it takes seconds.
create table dlq.dlq_workers (
    id      text        not null,
    -- The process, as in dlq_retriers.
    retrier text        not null,
    seen_at timestamptz not null default now(),

    constraint dlq_workers_pkey primary key (id)
) with (fillfactor = 20);
