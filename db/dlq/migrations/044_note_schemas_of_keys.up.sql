-- Which schemas the headers of keys have named. A key whose schema stands in a header does not say so in its own bytes, so a
-- search for the key's JSON has to know which schemas to encode it with (infra/docs/payloads.md).

set local lock_timeout = '5s';

alter table dlq.dlq_schemas
    -- Noted by ingesters before they store such a key, and by searches for the newest messages.
    add column is_of_keys boolean not null default false;
