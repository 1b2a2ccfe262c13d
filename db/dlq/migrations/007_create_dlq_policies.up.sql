-- dlq_policies: how the dead letters of topics are retried, one row per topic pattern. A null says
-- nothing: a wider pattern, the configuration or the built-in default decides (infra/docs/policies.md).
-- dlq_rate_buckets: how many messages a topic may still send, shared by all retriers.

create table dlq.dlq_policies (
    -- One glob (* any text, ? one character) that the original topic or the DLQ topic matches.
    pattern             text        not null,
    auto_retry          boolean,
    max_retries         int,
    backoff             text,
    initial_delay       interval,
    multiplier          numeric,
    max_delay           interval,
    backoff_list        interval[],
    -- Attempts in runs, such as every '6 hours'; '0' lifts what a wider pattern says.
    run_every           interval,
    run_limit           int,
    rate_per_second     numeric,
    max_in_flight       int,
    paused              boolean,
    -- '' lifts what a wider pattern says.
    redirect_topic      text,
    ordering            text,
    "timestamp"         text,
    weight              int,
    payload             text,
    -- 'pull': its application retries by SQL, and the retriers leave it alone.
    delivery            text,
    -- So many re-failures of one error group within the window pause its automatic retries; 0: never.
    refailure_threshold int,
    refailure_window    interval,
    -- After it a RESOLVED or DEAD message is archived.
    retention           interval,
    updated_at          timestamptz not null default now(),

    -- Each check names its column, so that the error message does.
    constraint dlq_policies_pkey primary key (pattern),
    constraint chk_dlq_policies_pattern check (pattern ~ '^[A-Za-z0-9._*?-]{1,249}$'),
    constraint chk_dlq_policies_max_retries check (max_retries between 1 and 1000),
    constraint chk_dlq_policies_backoff check (backoff in ('exponential', 'fixed', 'list')),
    constraint chk_dlq_policies_initial_delay check (initial_delay between interval '0' and interval '366 days'),
    constraint chk_dlq_policies_multiplier check (multiplier between 1 and 100),
    constraint chk_dlq_policies_max_delay check (max_delay between interval '0' and interval '366 days'),
    constraint chk_dlq_policies_backoff_list check (
        array_ndims(backoff_list) = 1
        and cardinality(backoff_list) between 1 and 1000
        and array_position(backoff_list, null) is null
        and interval '0' <= all (backoff_list)
        and interval '366 days' >= all (backoff_list)
    ),
    -- A list from a wider pattern might be gone tomorrow.
    constraint chk_dlq_policies_backoff_list_missing check (backoff is distinct from 'list' or backoff_list is not null),
    constraint chk_dlq_policies_run_every check (run_every = interval '0' or run_every between interval '1 second' and interval '366 days'),
    constraint chk_dlq_policies_run_limit check (run_limit between 1 and 1000000),
    constraint chk_dlq_policies_rate_per_second check (rate_per_second between 0.0001 and 1000000),
    constraint chk_dlq_policies_max_in_flight check (max_in_flight between 1 and 1000000),
    constraint chk_dlq_policies_redirect_topic check (redirect_topic ~ '^[A-Za-z0-9._-]{0,249}$' and redirect_topic not in ('.', '..')),
    constraint chk_dlq_policies_ordering check (ordering in ('none', 'per-key')),
    constraint chk_dlq_policies_timestamp check ("timestamp" in ('keep', 'now')),
    constraint chk_dlq_policies_weight check (weight between 1 and 1000),
    constraint chk_dlq_policies_payload check (payload in ('stored', 'derived')),
    constraint chk_dlq_policies_delivery check (delivery in ('republish', 'pull')),
    constraint chk_dlq_policies_refailure_threshold check (refailure_threshold between 0 and 1000000),
    constraint chk_dlq_policies_refailure_window check (refailure_window between interval '1 second' and interval '366 days'),
    constraint chk_dlq_policies_retention check (retention between interval '0' and interval '36500 days')
);

create trigger trg_dlq_policies_updated_at
    before update on dlq.dlq_policies
    for each row
    execute function dlq.update_updated_at();

-- One row, which changes with every change of dlq_policies, whoever makes it. Services look at it
-- instead of reading all policies. A random marker and not a number: a database restored from a
-- backup must not come to the same number with other policies.
create table dlq.dlq_policy_marker (
    only_row boolean not null default true,
    marker   uuid    not null default gen_random_uuid(),

    constraint dlq_policy_marker_pkey primary key (only_row),
    constraint chk_dlq_policy_marker_only_row check (only_row)
);
insert into dlq.dlq_policy_marker default values;

create function dlq.mark_policies_changed() returns trigger
language plpgsql
as $$
begin
    update dlq.dlq_policy_marker set marker = gen_random_uuid();
    return null;
end;
$$;

-- Before the statement: writers of policies wait for each other here, before they hold any policy's
-- row, so that they cannot deadlock; and a marker is seen only together with the change it stands for.
create trigger trg_dlq_policies_changed
    before insert or update or delete or truncate on dlq.dlq_policies
    for each statement
    execute function dlq.mark_policies_changed();

create table dlq.dlq_rate_buckets (
    -- The original topic.
    topic          text             not null,
    -- What was left at refilled_at; refilled when somebody takes.
    tokens         double precision not null,
    refilled_at    timestamptz      not null,
    -- Of a topic retried in runs: the run that run_used counts for.
    run_started_at timestamptz,
    run_used       int              not null default 0,
    -- What the last one who took was granted; written to be returned by the statement that takes.
    granted        int              not null,

    constraint dlq_rate_buckets_pkey primary key (topic)
) with (
    -- Few rows, written often: room for new versions on the same page, and no threshold that waits for more rows.
    fillfactor = 50,
    autovacuum_vacuum_threshold = 100,
    autovacuum_vacuum_scale_factor = 0.2
);
