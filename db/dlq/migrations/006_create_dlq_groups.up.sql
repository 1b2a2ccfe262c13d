-- dlq_groups: dead letters that fail for the same reason. An id is the fingerprint of the error
-- (packages/dlq-core/src/error-fingerprint.ts), so every ingester finds the same group by itself.

create table dlq.dlq_groups (
    id            uuid        not null,
    -- The fingerprint's algorithm; a new one makes new groups.
    version       int         not null,
    error_class   text,
    location      text,
    message       text        not null,
    title         text        not null,
    first_seen_at timestamptz not null default now(),
    last_seen_at  timestamptz not null default now(),
    state         text        not null default 'open',
    snoozed_until timestamptz,
    owner         text,
    note          text,

    constraint dlq_groups_pkey primary key (id),
    constraint chk_dlq_groups_state check (state in ('open', 'snoozed', 'ignored', 'resolved'))
);

-- Which groups a DLQ topic has: the bound on their number is kept here, and a topic's groups are listed from here.
create table dlq.dlq_group_topics (
    dlq_topic     text        not null,
    group_id      uuid        not null references dlq.dlq_groups (id) on delete cascade,
    first_seen_at timestamptz not null default now(),

    constraint dlq_group_topics_pkey primary key (dlq_topic, group_id)
);
create index idx_dlq_group_topics_group_id on dlq.dlq_group_topics (group_id);
