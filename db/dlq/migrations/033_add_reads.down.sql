-- Loses the record of who was shown what behind masks.
set local lock_timeout = '5s';

drop table if exists dlq.dlq_reads;
