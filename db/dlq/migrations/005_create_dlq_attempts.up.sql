-- dlq_attempts: one row per republish of a message, and how it failed again, if it did; or per attempt of an
-- application that retries by itself.

create table dlq.dlq_attempts (
    message_id             uuid        not null,
    -- Equals the message's retry_count when the attempt was made.
    number                 int         not null,
    -- Derived from (message_id, number): a repeated attempt keeps its id. Sent as dlq-attempt-id.
    attempt_id             uuid        not null,
    actor                  text        not null default 'auto',
    run_id                 uuid,
    slot                   int,
    target_topic           text,
    target_partition       int,
    target_offset          bigint,
    -- 'resolved': an application has handled it; nothing was published.
    outcome                text        not null,
    error                  text,
    started_at             timestamptz not null default now(),
    settled_at             timestamptz,
    -- When nobody could say whether it was published: it is made again under the same id. Its first record may be
    -- there all the same.
    unknown_at             timestamptz,
    -- The dead letter that said that this attempt failed again; read again, it changes nothing.
    failed_again_at        timestamptz,
    failed_again_cluster   text,
    failed_again_topic     text,
    failed_again_partition int,
    failed_again_offset    bigint,
    failed_again_class     text,
    failed_again_message   text,
    error_changed          boolean,

    constraint dlq_attempts_pkey primary key (message_id, number),
    constraint chk_dlq_attempts_outcome check (outcome in ('requested', 'published', 'resolved', 'failed', 'unknown'))
);

-- A dead letter without our headers is recognised by the coordinates that we published to.
create index idx_dlq_attempts_target on dlq.dlq_attempts (target_topic, target_partition, target_offset)
    where target_offset is not null;
-- The few of which not every record's place is known, because a retrier died: those are looked up in Kafka.
create index idx_dlq_attempts_unplaced on dlq.dlq_attempts (target_topic)
    where unknown_at is not null or (target_offset is null and outcome = 'published' and failed_again_at is null);
