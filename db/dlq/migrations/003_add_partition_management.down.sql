-- Loses every archived dead letter.
drop procedure if exists dlq.archive_old_dlq_messages(int, int);
drop table if exists dlq.dlq_messages_archive;
drop function if exists dlq.create_archive_partitions(int, timestamptz);
drop function if exists dlq.create_archive_partition(timestamptz);
