-- Loses nothing.

set local lock_timeout = '800ms';

alter table dlq.dlq_summary replica identity default;
alter table dlq.dlq_summary_deltas replica identity default;
alter table dlq.dlq_summary_totals replica identity default;
alter table dlq.dlq_run_deltas replica identity default;
