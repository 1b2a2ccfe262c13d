-- How fast consumer groups read, for the dry run of a retry: who else gets the records, and how long they take.

set local lock_timeout = '5s';

alter table dlq.dlq_readers
    -- Records a second, over the last five minutes; null while it is measured for the first time.
    add column per_second          double precision,
    -- The best of a day.
    add column best_per_second     double precision,
    add column best_at             timestamptz,
    -- What was written to the topic in the same time.
    add column produced_per_second double precision,
    -- { at, read, written }: sums over the partitions when the measuring began.
    add column measured_from       json,
    -- Since when the group has had no members.
    add column alone_since         timestamptz;
