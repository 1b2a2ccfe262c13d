-- An Idempotency-Key may also stand for a run: whoever lost the answer to creating one asks again, and gets the same run.

-- After this time others go on, and the migration is run again.
set local lock_timeout = '800ms';

-- What the request has made. The message_id of a run is zero.
alter table dlq.dlq_idempotency_keys add column run_id uuid;

-- Who erases what runs say looks up their keys.
create index idx_dlq_idempotency_keys_run_id on dlq.dlq_idempotency_keys (run_id) where run_id is not null;
