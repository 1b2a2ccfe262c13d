-- A retrier that gets no answer to a commit looks at the records themselves, because a coordinator that was killed may have
-- committed the ledger's entry and another one aborted the records. Where the records stand was known to that retrier
-- alone; here whoever recovers the slot after it finds it too (infra/docs/decisions/094-records-seen-again.md).

-- After this time others go on, and the migration is run again.
set local lock_timeout = '800ms';

-- The batch's token, and its records:
-- {"token": "…", "records": [{"id": "…", "topic": "orders", "partition": 0, "offset": "17"}, …]}
alter table dlq.dlq_slots add column unanswered jsonb;
