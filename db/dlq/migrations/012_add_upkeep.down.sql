-- Loses the attempts of archived messages.
drop function if exists dlq.drop_empty_month(regclass);
drop function if exists dlq.drop_archived_quarter(timestamptz);
drop function if exists dlq.restore_messages(uuid[]);
drop function if exists dlq.archive_messages(uuid[], timestamptz, timestamptz);
drop table if exists dlq.dlq_attempts_archive;
drop index if exists dlq.idx_dlq_messages_settled;
drop table if exists dlq.dlq_cron_runs;
drop table if exists dlq.dlq_cron_jobs;
drop table if exists dlq.dlq_workers;
