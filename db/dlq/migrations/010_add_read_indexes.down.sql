-- Loses since when groups are in their state.
alter table dlq.dlq_groups drop column state_changed_at;
drop index dlq.idx_dlq_groups_last_seen_at;
drop index dlq.idx_dlq_messages_record_key;
drop index dlq.idx_dlq_messages_group_id;
