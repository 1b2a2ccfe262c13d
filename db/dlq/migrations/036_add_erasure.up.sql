-- Runs of kind erase: what dead letters hold is forgotten, here and wherever it was copied to
-- (infra/docs/payloads.md). The rows stay, so that counts stay exact and a record that is read again meets its own id.

set local lock_timeout = '5s';

-- Since when a message holds nothing any more.
-- The archive's functions name the columns of the tables (012): in their texts the list becomes the longer one.
do $outer$
declare
    v_old  text := (
        select string_agg(quote_ident(attname), ', ' order by attnum) from pg_attribute
        where attrelid = 'dlq.dlq_messages'::regclass and attnum > 0 and not attisdropped);
    -- What comes back was touched: restore_messages writes another time there.
    v_restored text := regexp_replace(v_old, '\mupdated_at\M', 'now()');
    v_name regproc;
    v_text text;
begin
    alter table dlq.dlq_messages add column erased_at timestamptz;
    alter table dlq.dlq_messages_archive add column erased_at timestamptz;
    foreach v_name in array array['dlq.archive_messages', 'dlq.restore_messages']::regproc[] loop
        v_text := pg_get_functiondef(v_name);
        if position(v_old in v_text) = 0 then
            raise exception '% does not name the columns of dlq_messages', v_name;
        end if;
        v_text := replace(v_text, v_old, v_old || ', erased_at');
        execute replace(v_text, v_restored, v_restored || ', erased_at');
    end loop;
end;
$outer$;

alter table dlq.dlq_runs
    -- contents: the row stays. rows: it is deleted.
    add column erase_mode text,
    -- What was erased, where, and what was left; without personal data.
    add column proof      json,
    drop constraint chk_dlq_runs_kind,
    add constraint chk_dlq_runs_kind check (
        kind in ('retry', 'redirect', 'dead', 'revive', 'delete', 'archive', 'restore', 'purge', 'edit', 'erase')),
    add constraint chk_dlq_runs_erase_mode check ((kind = 'erase') = (erase_mode is not null) and erase_mode in ('contents', 'rows'));

-- What later copies are recognised by. An ingester asks with each transaction whether there are any.
create table dlq.dlq_erasures (
    -- HMAC-SHA-256 of 'key:' and the record's key, or of 'id:' and the message's id.
    digest   bytea       not null,
    hmac_key bytea       not null,
    -- Original topics; null: all.
    topics   text[],
    -- Only records from before this are stored as erased.
    cutoff   timestamptz not null,
    run_id   uuid        not null,

    constraint dlq_erasures_pkey primary key (digest, run_id)
);

-- The keys of the HMACs, normally one. Whoever erases locks the table, so that every ingester's transaction is over, and
-- what is stored afterwards is looked for here.
create table dlq.dlq_erasure_keys (
    hmac_key bytea  not null,
    -- Grows with every erasure.
    version  bigint not null default 1,

    constraint dlq_erasure_keys_pkey primary key (hmac_key)
);

-- What a run has found; gone when it ends. The key finds other places that name it.
create table dlq.dlq_erase_items (
    run_id      uuid    not null,
    message_id  uuid    not null,
    record_key  bytea,
    group_id    uuid,
    frames_id   uuid,
    -- Where copies stand in Kafka: the DLQ, the original, and what was republished.
    places      json    not null default '[]',
    is_archived boolean not null default false,
    is_erased   boolean not null default false,

    constraint dlq_erase_items_pkey primary key (run_id, message_id)
);

-- Entries of the audit that an erasure has emptied say so: verify-audit.ts then proves only their place in the chain.
alter table dlq.dlq_audit add column erased_by uuid;

-- Empties the entries about messages, or about runs, for a run that erases. Nobody else may change an entry.
create function dlq.erase_audit(p_run uuid, p_target_type text, p_ids text[]) returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_erased int;
begin
    if not exists (select from dlq.dlq_runs where id = p_run and kind = 'erase' and ended_at is null) then
        raise exception 'run % does not erase', p_run using errcode = 'insufficient_privilege';
    end if;
    update dlq.dlq_audit set before = null, after = null, reason = null, erased_by = p_run
    where target_type = p_target_type and target_id = any(p_ids) and erased_by is null
      and (before is not null or after is not null or reason is not null)
      -- What this run's own entries say is the proof's.
      and target_id <> p_run::text;
    get diagnostics v_erased = row_count;
    return v_erased;
end;
$$;

-- The same for records of unmasked reads: of these messages, or whose filter names a key.
create function dlq.erase_reads(p_run uuid, p_ids uuid[], p_texts text[]) returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_erased int;
begin
    if not exists (select from dlq.dlq_runs where id = p_run and kind = 'erase' and ended_at is null) then
        raise exception 'run % does not erase', p_run using errcode = 'insufficient_privilege';
    end if;
    update dlq.dlq_reads set filter = null, reason = null
    where (filter is not null or reason is not null)
      and (ids && p_ids or exists (
          select from unnest(p_texts) as named (name) where position(name in coalesce(filter::text, '') || ' ' || coalesce(reason, '')) > 0));
    get diagnostics v_erased = row_count;
    return v_erased;
end;
$$;

select dlq.apply_grants();

-- What became of messages, without what they hold (034).
create or replace view dlq.observed_messages as
    select id, original_topic, status, retry_count, max_retries, created_at, updated_at, last_retry_at, next_retry_at,
           dlq_cluster, dlq_topic, dlq_partition, dlq_offset, original_partition, original_offset, original_timestamp,
           original_topic_source, consumer_group, record_timestamp, record_timestamp_type, record_source, group_id,
           failure_count, first_failed_at, last_failed_at, run_id, successor_of, related_to, held_by_route, retry_requested, target_topic, edits,
           origin_state, erased_at
    from dlq.dlq_messages;

create or replace view dlq.observed_messages_archive as
    select id, original_topic, status, retry_count, max_retries, created_at, updated_at, last_retry_at, next_retry_at,
           dlq_cluster, dlq_topic, dlq_partition, dlq_offset, original_partition, original_offset, original_timestamp,
           original_topic_source, consumer_group, record_timestamp, record_timestamp_type, record_source, group_id,
           failure_count, first_failed_at, last_failed_at, run_id, successor_of, related_to, held_by_route, retry_requested, target_topic, edits,
           archived_at, origin_state, erased_at
    from dlq.dlq_messages_archive;
