-- Loses which known schemas were to be asked for again.
set local lock_timeout = '5s';

drop index if exists dlq.idx_dlq_schemas_recheck;
alter table dlq.dlq_schemas drop column if exists recheck_at;
