-- Loses subscriptions, dismissals and which records came before a subscription.
set local lock_timeout = '5s';

alter table dlq.dlq_topics
    drop column if exists missing_originals,
    drop column if exists original_max_bytes,
    drop column if exists max_message_bytes;
alter table dlq.dlq_positions drop column if exists manual_below;
drop table if exists dlq.dlq_samples;
drop table if exists dlq.dlq_subscriptions;
drop table if exists dlq.dlq_candidate_readers;
drop table if exists dlq.dlq_candidates;
