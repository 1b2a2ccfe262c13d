-- Topics that look like DLQ topics and that nobody ingests, and ingestion by rows beside the configuration
-- (infra/docs/discovery.md).

set local lock_timeout = '5s';

create table dlq.dlq_candidates (
    cluster          text        not null,
    topic            text        not null,
    partitions       int,
    -- The sum of what each log may hold: markers of transactions and compaction make it less.
    records_at_most  bigint,
    oldest_at        timestamptz,
    newest_at        timestamptz,
    retention_ms     bigint,
    retention_bytes  bigint,
    cleanup_policy   text,
    -- Whose headers a record had, such as spring-dlt.
    family           text,
    -- What speaks for it: headers (a record has headers of dead letters), name, weak (a name that means other things too).
    confidence       text        not null,
    found_at         timestamptz not null default clock_timestamp(),
    gone_at          timestamptz,
    -- When an ingester looks at the topic next; whoever does moves it on first.
    look_due_at      timestamptz not null default now(),
    looked_at        timestamptz,
    dismissed_at     timestamptz,
    dismissed_by     text,
    dismissed_reason text,

    constraint dlq_candidates_pkey primary key (cluster, topic),
    constraint chk_dlq_candidates_confidence check (confidence in ('headers', 'name', 'weak'))
);

-- Consumer groups with offsets on candidates and DLQ topics, as a retrier saw them.
create table dlq.dlq_candidate_readers (
    topic          text        not null,
    consumer_group text        not null,
    seen_at        timestamptz not null default now(),

    constraint dlq_candidate_readers_pkey primary key (topic, consumer_group)
);

-- Which topics are ingested, or are not, beside kafka.dlq_topic_pattern: an exact name decides over a pattern, a pattern
-- over the configuration, and among equals ignore.
create table dlq.dlq_subscriptions (
    id         uuid        not null default gen_random_uuid(),
    -- Null: every cluster.
    cluster    text,
    -- A name, or a pattern with * and ?.
    pattern    text        not null,
    mode       text        not null,
    -- The original topic where headers name none; may use $1, $2 … of the pattern.
    original   text,
    start      text        not null default 'earliest',
    start_at   timestamptz,
    -- What becomes of records from before the subscription: manual ones are sent only when somebody asks.
    backlog    text        not null default 'manual',
    created_at timestamptz not null default clock_timestamp(),
    created_by text        not null,
    reason     text,

    constraint dlq_subscriptions_pkey primary key (id),
    constraint chk_dlq_subscriptions_mode check (mode in ('ingest', 'ignore')),
    constraint chk_dlq_subscriptions_start check (start in ('earliest', 'latest', 'time') and (start = 'time') = (start_at is not null)),
    constraint chk_dlq_subscriptions_backlog check (backlog in ('manual', 'auto'))
);
create unique index uq_dlq_subscriptions_pattern on dlq.dlq_subscriptions (pattern, coalesce(cluster, ''));

-- Requests for a look at some records of a topic. An ingester answers, the API deletes the row as it reads the answer.
-- Unlogged, because the answer quotes errors and is not to be kept: a crash of PostgreSQL loses it.
create unlogged table dlq.dlq_samples (
    id          uuid        not null default gen_random_uuid(),
    cluster     text        not null,
    topic       text        not null,
    asked_at    timestamptz not null default clock_timestamp(),
    taken_at    timestamptz,
    answer      json,

    constraint dlq_samples_pkey primary key (id)
);

-- Records below it are from before the subscription: they are stored without a time for their retry.
alter table dlq.dlq_positions add column manual_below bigint;

alter table dlq.dlq_topics
    add column max_message_bytes   int,
    -- The largest of its original topics.
    add column original_max_bytes  int,
    -- Original topics that its messages name and that an ingester does not see in Kafka.
    add column missing_originals   text[] not null default '{}';

select dlq.apply_grants();
