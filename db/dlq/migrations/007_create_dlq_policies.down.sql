-- Loses the policies; every topic is retried as the configuration says.
drop table if exists dlq.dlq_rate_buckets;
drop table if exists dlq.dlq_policies;
drop function if exists dlq.mark_policies_changed();
drop table if exists dlq.dlq_policy_marker;
