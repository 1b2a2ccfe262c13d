-- dlq_audit: every change that a person or a program made through the API, written in the transaction
-- of the change. Without payloads: what a message was before an edit stands in dlq_message_edits.

create table dlq.dlq_audit (
    id             bigint      generated always as identity,
    at             timestamptz not null default now(),
    actor          text        not null,
    role           text        not null,
    -- "message.retry", "policy.put" …
    action         text        not null,
    -- "message", "policy", "topic", "group" …, and which one.
    target_type    text        not null,
    target_id      text        not null,
    -- Who may see only some topics sees only the entries about them.
    original_topic text,
    dlq_topic      text,
    reason         text,
    -- What changed, from what to what.
    before         json,
    after          json,
    request_id     text,

    constraint dlq_audit_pkey primary key (id)
);

-- The lists of GET /api/v1/audit, newest first: of one target, of one actor, of one kind of change.
create index idx_dlq_audit_target on dlq.dlq_audit (target_type, target_id, id);
create index idx_dlq_audit_actor on dlq.dlq_audit (actor, id);
create index idx_dlq_audit_action on dlq.dlq_audit (action, id);
create index idx_dlq_audit_at on dlq.dlq_audit (at);

-- One row per edit: what it replaced. The first one therefore holds the message as it came.
create table dlq.dlq_message_edits (
    message_id     uuid        not null,
    -- From 1.
    number         int         not null,
    at             timestamptz not null default now(),
    actor          text        not null,
    reason         text,
    request_id     text,
    -- Which of key, value, headers and target_topic were edited.
    fields         text[]      not null,
    record_key     bytea,
    record_value   bytea,
    record_headers json,
    payload        jsonb,
    target_topic   text,

    constraint dlq_message_edits_pkey primary key (message_id, number)
);

-- What was dead-lettered by HTTP under an Idempotency-Key, so that asking again makes no second message.
create table dlq.dlq_idempotency_keys (
    actor      text        not null,
    key        text        not null,
    -- SHA-256 of the request: the same key with another request is a mistake.
    request    bytea       not null,
    message_id uuid        not null,
    created_at timestamptz not null default now(),

    constraint dlq_idempotency_keys_pkey primary key (actor, key)
);
create index idx_dlq_idempotency_keys_created_at on dlq.dlq_idempotency_keys (created_at);
