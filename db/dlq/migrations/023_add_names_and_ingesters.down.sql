-- Loses the names that people gave to topics and consumer groups, other than those in dlq_topics.
drop table if exists dlq.dlq_ingesters;
drop table if exists dlq.dlq_names;
