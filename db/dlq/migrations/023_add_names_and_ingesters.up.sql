-- The names that people give to topics and consumer groups, and which ingester reads what.

set local lock_timeout = '5s';

-- A name of dlq_topics.display_name, which only SQL sets, counts where there is none here.
create table dlq.dlq_names (
    kind         text        not null,
    -- The topic or the consumer group.
    id           text        not null,
    display_name text        not null,
    updated_at   timestamptz not null default now(),

    constraint dlq_names_pkey primary key (kind, id),
    constraint chk_dlq_names_kind check (kind in ('topic', 'consumer_group'))
);

create table dlq.dlq_ingesters (
    id         text        not null,
    -- Null until Kafka has told it.
    cluster    text,
    -- What Kafka has given it to read: a list of { topic, partitions }.
    assignment json        not null default '[]',
    -- Why it does not read or store now; null where it does, as far as it knows.
    fault      text,
    started_at timestamptz not null default now(),
    seen_at    timestamptz not null default now(),

    constraint dlq_ingesters_pkey primary key (id)
) with (fillfactor = 20);

select dlq.apply_grants();
