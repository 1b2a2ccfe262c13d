-- Loses what people have said about error groups per DLQ topic; what the API of the version before said stays.
drop trigger if exists trg_dlq_messages_archive_groups on dlq.dlq_messages_archive;
drop function if exists dlq.note_archived_groups();
drop trigger if exists trg_dlq_groups_copy_state on dlq.dlq_groups;
drop function if exists dlq.copy_group_state();
alter table dlq.dlq_groups drop column forgotten_at, drop column archived_at, drop column purged_at;
alter table dlq.dlq_group_topics
    drop constraint if exists chk_dlq_group_topics_state,
    drop column state, drop column snoozed_until, drop column state_changed_at, drop column owner, drop column note,
    drop column last_seen_at;
