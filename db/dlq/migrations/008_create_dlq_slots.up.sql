-- Who may publish. A slot is a leased row, and with it a transactional id of Kafka. Each batch that is
-- published has a number of its slot, which Kafka commits together with the records; so whoever takes
-- a slot over can tell what became of its last batch (infra/docs/decisions/005-slots-and-ledger.md).

create table dlq.dlq_slots (
    slot        int         not null,
    -- Raised by whoever takes the slot. Statements of earlier owners name a lower one and find nothing.
    epoch       bigint      not null default 0,
    -- The number given out last; it only rises.
    batch       bigint      not null default 0,
    -- A row of dlq_retriers; null where the slot was given back.
    owner       text,
    owner_until timestamptz,
    taken_at    timestamptz,

    constraint dlq_slots_pkey primary key (slot),
    constraint chk_dlq_slots_slot check (slot > 0)
) with (
    -- Few rows, written with every batch: room for new versions on the same page.
    fillfactor = 20,
    autovacuum_vacuum_threshold = 100,
    autovacuum_vacuum_scale_factor = 0.2
);

-- One row per retrier that runs, or ran lately, so that others know whether anybody can publish.
create table dlq.dlq_retriers (
    id         text        not null,
    -- How it publishes; 'nothing' where it has no Kafka, 'resolve' where it then only pretends to.
    publishes  text        not null,
    -- Why it cannot publish now; null where it can, as far as it knows.
    fault      text,
    started_at timestamptz not null default now(),
    seen_at    timestamptz not null default now(),

    constraint dlq_retriers_pkey primary key (id),
    constraint chk_dlq_retriers_publishes check (publishes in ('exactly-once', 'at-least-once', 'resolve', 'nothing'))
) with (fillfactor = 20);

-- What a slot holds, and what is in flight; only rows that are being retried right now.
create index idx_dlq_messages_lease_slot on dlq.dlq_messages (lease_slot, lease_batch) where lease_slot is not null;

-- Whether a message must wait for an earlier one of its key; only rows of topics with ordering "per-key".
create index idx_dlq_messages_order_key on dlq.dlq_messages (
    original_topic, order_key, coalesce(original_partition, -1), coalesce(original_offset, -1), id)
    where order_key is not null and status in ('PENDING', 'RETRYING');

-- Error groups whose automatic retries are paused, because too many of them failed again. What people
-- ask for is still retried. One message at a time is sent to see whether it is over.
create table dlq.dlq_group_pauses (
    original_topic text        not null,
    group_id       uuid        not null,
    reason         text        not null,
    paused_at      timestamptz not null default now(),
    -- Re-failures from before it do not count for another pause.
    resumed_at     timestamptz,
    -- The attempt that is being watched, if any; when it was sent, or when the next one will be.
    probe_id       uuid,
    probe_attempt  int,
    probe_at       timestamptz not null,
    failed_probes  int         not null default 0,

    constraint dlq_group_pauses_pkey primary key (original_topic, group_id)
);

-- What failed again lately; only rows of attempts that did.
create index idx_dlq_attempts_failed_again_at on dlq.dlq_attempts (failed_again_at) where failed_again_at is not null;
