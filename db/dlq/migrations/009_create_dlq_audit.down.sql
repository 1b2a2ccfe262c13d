drop table dlq.dlq_idempotency_keys;
drop table dlq.dlq_message_edits;
drop table dlq.dlq_audit;
