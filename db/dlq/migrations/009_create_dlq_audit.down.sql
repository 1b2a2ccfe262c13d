-- Loses the audit, what messages were before they were edited, and the keys of requests that were answered.
drop table dlq.dlq_idempotency_keys;
drop table dlq.dlq_message_edits;
drop table dlq.dlq_audit;
