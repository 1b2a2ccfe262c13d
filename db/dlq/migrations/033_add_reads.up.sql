-- Who was shown what behind masks: written before the first byte of the answer leaves.

set local lock_timeout = '5s';

create table dlq.dlq_reads (
    id         uuid        not null default dlq.new_message_id(),
    at         timestamptz not null default clock_timestamp(),
    actor      text        not null,
    request_id text        not null,
    -- The route: "GET /api/v1/dlq/messages/:id".
    action     text        not null,
    -- What the path names: a message, a run, a topic.
    target     text,
    -- The messages that were shown, a thousand at most.
    ids        uuid[]      not null default '{}',
    -- What the request looked for.
    filter     json,
    -- The messages that were shown; of an export once it has ended, null where it broke off.
    shown      bigint,
    reason     text,

    constraint dlq_reads_pkey primary key (id)
);
create index idx_dlq_reads_at on dlq.dlq_reads (at);
create index idx_dlq_reads_actor on dlq.dlq_reads (actor, at);
create index idx_dlq_reads_ids on dlq.dlq_reads using gin (ids);
