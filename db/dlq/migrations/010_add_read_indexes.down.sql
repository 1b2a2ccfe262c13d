drop index dlq.idx_dlq_messages_record_key;
drop index dlq.idx_dlq_messages_group_id;
