-- Loses the positions: ingestion starts again from the beginning of each topic. Ids are derived
-- from the records, so nothing is stored twice.
drop table if exists dlq.dlq_topic_partitions;
drop table if exists dlq.dlq_positions;
drop table if exists dlq.dlq_topics;
