-- Loses what is known of consumer groups; runs and probes take silence for success again.
drop function if exists dlq.verdict(text, text, int, bigint, timestamptz, timestamptz);
alter table dlq.dlq_runs drop column if exists read_at;
drop table if exists dlq.dlq_run_verdicts;
drop table if exists dlq.dlq_reader_gaps;
drop table if exists dlq.dlq_reader_partitions;
drop table if exists dlq.dlq_readers;
drop table if exists dlq.dlq_reader_watch;
