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
