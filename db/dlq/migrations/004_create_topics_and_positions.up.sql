-- What the ingester knows of Kafka: the DLQ topics found, and how far each partition is stored.

-- One row per DLQ topic found. All ingesters subscribe to the rows without gone_at, so that
-- every member of the consumer group has the same list.
create table dlq.dlq_topics (
    cluster      text        not null,
    topic        text        not null,
    -- Kafka's own (KIP-516): another one means that the topic was deleted and made anew. Null before Kafka 2.8.
    topic_id     text,
    partitions   int         not null,
    display_name text,
    found_at     timestamptz not null default now(),
    gone_at      timestamptz,

    -- Kafka's own settings of the topic; null where they are not known yet, or may not be read.
    -- Milliseconds, and bytes per partition; -1: without bound.
    retention_ms    bigint,
    retention_bytes bigint,
    cleanup_policy  text,
    -- When an ingester looks at the topic's log next; whoever does moves it on first.
    look_due_at     timestamptz not null default now(),
    -- As of when dlq_topic_partitions is true.
    looked_at       timestamptz,

    primary key (cluster, topic)
);

-- One row per partition: the next offset to ingest, moved in the transaction that inserts the rows.
-- This, not Kafka's committed offset, says where ingestion goes on.
create table dlq.dlq_positions (
    cluster     text        not null,
    topic       text        not null,
    partition   int         not null,
    -- Counts how often the topic was deleted and made anew.
    generation  int         not null default 0,
    next_offset bigint      not null,
    updated_at  timestamptz not null default now(),
    primary key (cluster, topic, partition)
);

-- What Kafka holds of each partition, as of dlq_topics.looked_at. A table of its own, because the rows of
-- dlq_positions are locked while a batch is stored.
create table dlq.dlq_topic_partitions (
    cluster          text   not null,
    topic            text   not null,
    partition        int    not null,
    -- The first offset that is retained, and the one after the last, committed or not.
    log_start_offset bigint not null,
    log_end_offset   bigint not null,
    -- The oldest record that was not ingested when looked for, and its timestamp: what retention deletes
    -- next. Only of partitions that fall behind; out of date once next_offset is beyond it.
    unread_offset    bigint,
    unread_timestamp timestamptz,
    primary key (cluster, topic, partition)
) with (fillfactor = 70);
