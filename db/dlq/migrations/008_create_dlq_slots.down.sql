-- Loses the numbers that tell whether a batch was published: stop every retrier first.
drop index if exists dlq.idx_dlq_attempts_failed_again_at;
drop table if exists dlq.dlq_group_pauses;
drop index if exists dlq.idx_dlq_messages_order_key;
drop index if exists dlq.idx_dlq_messages_lease_slot;
drop table if exists dlq.dlq_retriers;
drop table if exists dlq.dlq_slots;
