-- Loses the counts; they are counted anew when this goes up again.
drop index if exists dlq.idx_dlq_attempts_settled_at;
drop function if exists dlq.drop_message_partition(regclass);
drop function if exists dlq.reconcile_summary(boolean);
drop function if exists dlq.fold_summary(int);
-- With its triggers.
drop function if exists dlq.count_inserted() cascade;
drop function if exists dlq.count_updated() cascade;
drop function if exists dlq.count_deleted() cascade;
drop function if exists dlq.count_truncated() cascade;
drop function if exists dlq.require_read_committed(text);
drop function if exists dlq.release_lock(text, text, interval);
drop function if exists dlq.extend_lock(text, text, interval);
drop function if exists dlq.try_lock(text, text, interval);
drop table if exists dlq.dlq_locks;
drop table if exists dlq.dlq_summary_state;
drop table if exists dlq.dlq_summary_deltas;
drop table if exists dlq.dlq_summary_totals;
drop table if exists dlq.dlq_summary;
