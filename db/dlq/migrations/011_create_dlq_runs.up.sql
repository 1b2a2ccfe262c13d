-- dlq_runs: one row per bulk operation over a frozen selection of messages; its steps are a saga.
--
-- A run that retries takes messages by writing its id into them. Such a message is not due by itself any
-- more: it is sent when the run's turn comes, and only while the run is "running". So a run of a million
-- messages is paused, slowed or cancelled by changing one row, and what was not sent is given back by taking
-- the id out again, with everything else as it was.

create table dlq.dlq_runs (
    id               uuid        not null default gen_random_uuid(),
    kind             text        not null,
    status           text        not null default 'queued',
    actor            text        not null,
    reason           text,

    -- Frozen: what was asked for, who asked may see (null: all topics), and when. What arrives later is not touched.
    selection        json        not null,
    scope            text[],
    cutoff           timestamptz not null default clock_timestamp(),
    -- The greatest id then; an id tells when a record was written, not when it arrived, so this alone would not do.
    until_id         uuid        not null,
    -- How many matched then; "gte" where counting ended before the end.
    matched          bigint      not null,
    matched_relation text        not null,
    -- Of POST /api/v1/dlq/:topic/retry-all: one at a time.
    retry_all_topic  text,

    -- What is done with them.
    target_topic     text,
    patch            json,
    rate_per_second  numeric,
    canary           json,
    on_refailure     text        not null default 'continue',
    max_refailure    numeric     not null default 0.05,

    -- How far it is: the last id looked at, and what became of the messages. dlq_run_deltas come on top.
    step             text,
    cursor           uuid,
    is_exhausted     boolean     not null default false,
    step_taken       bigint      not null default 0,
    -- What had been counted when the step began: a canary is judged by its own messages.
    base_resolved    bigint      not null default 0,
    base_failed_again bigint     not null default 0,
    is_judged        boolean     not null default false,
    chunk_size       int         not null default 500,
    taken            bigint      not null default 0,
    done             bigint      not null default 0,
    resolved         bigint      not null default 0,
    failed           bigint      not null default 0,
    failed_again     bigint      not null default 0,
    withdrawn        bigint      not null default 0,
    given_back       bigint      not null default 0,
    skipped          json        not null default '{}',
    status_reason    text,

    created_at       timestamptz not null default now(),
    started_at       timestamptz,
    last_settled_at  timestamptz,
    ended_at         timestamptz,

    constraint dlq_runs_pkey primary key (id),
    constraint chk_dlq_runs_kind check (kind in ('retry', 'redirect', 'dead', 'delete', 'archive', 'purge', 'edit')),
    constraint chk_dlq_runs_status check (status in ('queued', 'running', 'paused', 'cancelling', 'completed', 'cancelled', 'failed')),
    constraint chk_dlq_runs_on_refailure check (on_refailure in ('continue', 'pause', 'cancel')),
    constraint chk_dlq_runs_rate_per_second check (rate_per_second between 0.0001 and 1000000)
) with (
    -- Written with every chunk.
    fillfactor = 50
);

-- The list, newest first.
create index idx_dlq_runs_created_at on dlq.dlq_runs (created_at, id);
-- What is going on now, and that nobody retries a whole topic twice at the same time.
create index idx_dlq_runs_unfinished on dlq.dlq_runs (status) where ended_at is null;
create unique index idx_dlq_runs_retry_all_topic on dlq.dlq_runs (retry_all_topic) where ended_at is null;

-- What became of messages of runs, written by whoever settles them, in the same statement: appended, so that
-- nobody waits for the run's row. The run folds them into it.
create table dlq.dlq_run_deltas (
    run_id  uuid   not null,
    outcome text   not null,
    n       bigint not null
);
create index idx_dlq_run_deltas_run_id on dlq.dlq_run_deltas (run_id);

-- Which messages a run left alone, and why: the first ten thousand.
create table dlq.dlq_run_skipped (
    run_id     uuid not null references dlq.dlq_runs (id) on delete cascade,
    message_id uuid not null,
    reason     text not null,

    constraint dlq_run_skipped_pkey primary key (run_id, message_id)
);

-- What a run holds, by topic, oldest first; only rows of runs that are going on.
create index idx_dlq_messages_run on dlq.dlq_messages (run_id, original_topic, id) where run_id is not null;
-- What a run holds is sent in its turn, not by its own time.
drop index dlq.idx_dlq_messages_due;
create index idx_dlq_messages_due on dlq.dlq_messages (original_topic, next_retry_at, id)
    where status = 'PENDING' and next_retry_at is not null and run_id is null;
-- The attempts that a run made.
create index idx_dlq_attempts_run on dlq.dlq_attempts (run_id, message_id) where run_id is not null;
