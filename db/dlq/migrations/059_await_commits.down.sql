-- Loses nothing.

set local lock_timeout = '800ms';

-- With its triggers, also those of partitions that were made since.
drop function dlq.await_commit() cascade;
