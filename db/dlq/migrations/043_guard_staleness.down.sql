-- Loses the policies' "staleness", and what was found out about newer records. Messages that are held stay PENDING without
-- a date.
set local lock_timeout = '5s';

alter table dlq.dlq_runs drop column if exists staleness;
drop table if exists dlq.dlq_staleness_cursors;
drop table if exists dlq.dlq_staleness;
alter table dlq.dlq_policies drop column if exists staleness;
