-- Loses the shares that policies set, the probes under way, and the counts of recent retries; paused groups are
-- probed again, and judged by the count of re-failures alone.
alter table dlq.dlq_retriers drop column if exists held_topics;
drop table if exists dlq.dlq_group_retries;
drop table if exists dlq.dlq_group_probes;
alter table dlq.dlq_group_pauses drop column if exists refails_after;
alter table dlq.dlq_policies drop column if exists refailure_share;
