-- Loses what people noted about groups; the groups themselves come back with the next failures.
drop table if exists dlq.dlq_group_topics;
drop table if exists dlq.dlq_groups;
