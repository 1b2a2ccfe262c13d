drop table if exists dlq.dlq_workers;
