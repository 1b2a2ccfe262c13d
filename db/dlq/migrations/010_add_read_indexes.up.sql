-- Indexes that only readers need. Every one costs ingestion and retries, so there are two on
-- dlq_messages, each for a question
-- that people ask first and that no other index narrows: which messages fail for this reason, and what became
-- of this key.

-- Lists of one error group, with or without a status, newest first; counts of the groups.
create index idx_dlq_messages_group_id on dlq.dlq_messages (group_id, status, id) where group_id is not null;

-- Lists of one record key. Its beginning is enough to find it, and a key may be longer than an index entry.
create index idx_dlq_messages_record_key on dlq.dlq_messages (substring(record_key from 1 for 64), id) where record_key is not null;

-- Error groups, those seen last first. Few rows, written once a minute at most.
create index idx_dlq_groups_last_seen_at on dlq.dlq_groups (last_seen_at, id);

-- When somebody set the state: what comes in later has returned.
alter table dlq.dlq_groups add column state_changed_at timestamptz;
