-- Loses which held messages would be due again by themselves.
set local lock_timeout = '5s';

alter table dlq.dlq_staleness drop column if exists held_at;
