-- A publication for all tables, as Debezium makes one where it is not told otherwise, takes the tables of its database in.
-- PostgreSQL then refuses to update and delete rows that cannot be named to a subscriber: those of tables without a primary
-- key. Changes of counts were not added up any more, and piled up. Here the whole row names itself; that costs WAL only
-- where wal_level is logical.

-- After this time others go on, and the migration is run again.
set local lock_timeout = '800ms';

alter table dlq.dlq_summary replica identity full;
alter table dlq.dlq_summary_deltas replica identity full;
alter table dlq.dlq_summary_totals replica identity full;
alter table dlq.dlq_run_deltas replica identity full;
