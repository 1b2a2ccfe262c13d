-- Whether something newer than a dead letter was committed under its key (infra/docs/verdicts.md). Tables of their own, so
-- that messages whose policy does not ask cost nothing: neither ingestion nor claims touch them.

set local lock_timeout = '5s';

alter table dlq.dlq_policies
    add column staleness text,
    add constraint chk_dlq_policies_staleness check (staleness in ('ignore', 'warn', 'hold'));

-- Open messages whose policy asks.
create table dlq.dlq_staleness (
    message_id      uuid        not null,
    original_topic  text        not null,
    partition       int,
    original_offset bigint,
    -- waiting: not looked at yet. fresh: nothing newer up to the position of its partition's cursor.
    answer          text        not null default 'waiting',
    -- Of an unknown answer: why.
    reason          text,
    -- Of a superseded one: the newer record; null where compaction has taken the message's own record away.
    newer_offset    bigint,
    newer_at        timestamptz,
    answered_at     timestamptz,
    -- The attempt that somebody has asked for whatever the answer is.
    forced_attempt  int,

    constraint dlq_staleness_pkey primary key (message_id),
    constraint chk_dlq_staleness_answer check (answer in ('waiting', 'fresh', 'superseded', 'unknown'))
);
create index idx_dlq_staleness_partition on dlq.dlq_staleness (original_topic, partition, original_offset);

-- How far the partitions of original topics were read for open messages.
create table dlq.dlq_staleness_cursors (
    original_topic   text        not null,
    partition        int         not null,
    position         bigint,
    looked_at        timestamptz,
    -- When a retrier looks next; whoever does moves it on first, and keeps the lease.
    look_due_at      timestamptz not null default now(),
    lease            uuid,
    topic_id         text,
    topic_partitions int,
    -- The records from here on were written when the topic had that many partitions.
    counted_from     bigint,
    counted_at       timestamptz,
    -- When the topic was found to be another of the same name.
    recreated_at     timestamptz,

    constraint dlq_staleness_cursors_pkey primary key (original_topic, partition)
);
create index idx_dlq_staleness_cursors_due on dlq.dlq_staleness_cursors (look_due_at);

alter table dlq.dlq_runs
    -- send: also what is not known to be fresh.
    add column staleness text,
    add constraint chk_dlq_runs_staleness check (staleness = 'send');

select dlq.apply_grants();
