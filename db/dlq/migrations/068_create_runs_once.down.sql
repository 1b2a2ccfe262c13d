-- Loses which runs were created under a key: asking again is then refused.
set local lock_timeout = '800ms';

alter table dlq.dlq_idempotency_keys drop column run_id;
