-- Loses the measured rates of consumer groups.
set local lock_timeout = '5s';

alter table dlq.dlq_readers
    drop column if exists alone_since,
    drop column if exists measured_from,
    drop column if exists produced_per_second,
    drop column if exists best_at,
    drop column if exists best_per_second,
    drop column if exists per_second;
