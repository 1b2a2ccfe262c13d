-- Loses which schemas keys have; ingesters note them again with the next key.
set local lock_timeout = '5s';

alter table dlq.dlq_schemas drop column if exists is_of_keys;
