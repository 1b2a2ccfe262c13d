-- Schemas of values that are not JSON, from the registries. One that was seen once stays for ever: archived messages can
-- be read after the registry is gone (infra/docs/payloads.md).

set local lock_timeout = '5s';

create table dlq.dlq_schemas (
    id                int         not null generated always as identity,
    -- The registry's name in the configuration.
    registry          text        not null,
    -- 'id': Confluent's. 'guid': the same registry's, from headers. 'content', 'global': Apicurio's.
    id_kind           text        not null,
    schema_id         text        not null,
    -- 'wanted': nobody has asked the registry, or it did not answer. 'missing': it has no such schema.
    -- 'refused': it does not let us read it. Any of them is asked for again at next_try_at.
    state             text        not null default 'wanted',
    type              text,
    -- The name of the type.
    name              text,
    definition        text,
    -- The definitions that it refers to, a list of texts, each after those that it uses itself.
    schema_references json,
    -- Values of it are encrypted as a whole.
    is_encrypted      boolean     not null default false,
    -- Why it is not known.
    problem           text,
    wanted_at         timestamptz not null default now(),
    known_at          timestamptz,
    tries             int         not null default 0,
    next_try_at       timestamptz not null default now(),

    constraint dlq_schemas_pkey primary key (id),
    constraint uq_dlq_schemas_id unique (registry, id_kind, schema_id),
    constraint chk_dlq_schemas_state check (state in ('wanted', 'known', 'missing', 'refused')),
    constraint chk_dlq_schemas_id_kind check (id_kind in ('id', 'guid', 'content', 'global')),
    constraint chk_dlq_schemas_known check (state <> 'known' or (type is not null and definition is not null))
);
-- What ingesters and retriers ask the registries for.
create index idx_dlq_schemas_next_try on dlq.dlq_schemas (next_try_at) where state <> 'known';

-- Null for plain JSON and for bytes of which nothing is known. No row is rewritten.
alter table dlq.dlq_messages
    -- A row of dlq_schemas.
    add column value_schema int,
    -- 1: payload is what was decoded. 2: waits for the schema. 3: could not be decoded.
    add column decode_state int;
alter table dlq.dlq_messages_archive
    add column value_schema int,
    add column decode_state int;

-- The archive's functions list the columns of the tables (026). The new ones come behind the one that was last.
do $$
declare
    v_function regprocedure;
begin
    foreach v_function in array array[
        'dlq.archive_messages(uuid[], timestamptz, timestamptz)'::regprocedure, 'dlq.restore_messages(uuid[])'] loop
        execute regexp_replace(pg_get_functiondef(v_function),
            '\mframes_id\M', 'frames_id, value_schema, decode_state', 'g');
    end loop;
end;
$$;
