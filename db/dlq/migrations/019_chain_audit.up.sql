-- The audit: nobody but the owner changes an entry, and each one carries a hash of the one before.
-- db/verify-audit.ts proves the chain.

-- Waiting readers and writers of the audit wait behind this one, so it gives up soon. Run the migration again then.
set local lock_timeout = '5s';

-- Null for the entries from before this migration.
alter table dlq.dlq_audit
    -- The day, in UTC, on which the entry was committed; "at" is the start of its transaction.
    add column chain_day    date,
    -- From 1, without a gap.
    add column chain_number bigint,
    -- SHA-256 of the hash before and of dlq.audit_text.
    add column chain_hash   bytea;

-- The end of each day's chain. Rows stay for ever: a few hundred a year.
create table dlq.dlq_audit_days (
    day          date        not null,
    entries      bigint      not null,
    -- Of the last entry.
    hash         bytea       not null,
    -- When dlq.forget_audit deleted the first entry of the day.
    forgotten_at timestamptz,

    constraint dlq_audit_days_pkey primary key (day)
)
-- One row changes with every entry: room beside it keeps the new version on its page.
with (fillfactor = 20);

-- What an entry says, as bytes. Each field has its length before it, so that no two entries have the same text;
-- "-" stands for null. db/verify-audit.ts makes the same text by itself.
create function dlq.audit_text(p_entry dlq.dlq_audit) returns bytea
language sql stable
as $$
    select convert_to(string_agg(coalesce(octet_length(convert_to(field, 'UTF8')) || ':' || field, '-'), ',' order by place), 'UTF8')
    from unnest(array[
        p_entry.id::text, (extract(epoch from p_entry.at) * 1000000)::bigint::text, p_entry.actor, p_entry.role,
        p_entry.action, p_entry.target_type, p_entry.target_id, p_entry.original_topic, p_entry.dlq_topic,
        p_entry.reason, p_entry.before::text, p_entry.after::text, p_entry.request_id
    ]) with ordinality as fields (field, place)
$$;

-- Appends an entry to its day's chain, when its transaction commits. The row of the day is locked only from then to
-- the end of the commit: writers wait for each other's commit, and never for each other's work.
create function dlq.chain_audit() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_day  date := (clock_timestamp() at time zone 'UTC')::date;
    v_text bytea := dlq.audit_text(new);
    v_end  record;
begin
    insert into dlq.dlq_audit_days as d (day, entries, hash)
    values (v_day, 1, sha256(sha256(convert_to(v_day::text, 'UTF8')) || v_text))
    on conflict (day) do update set entries = d.entries + 1, hash = sha256(d.hash || v_text)
    returning * into v_end;
    update dlq.dlq_audit set chain_day = v_day, chain_number = v_end.entries, chain_hash = v_end.hash where id = new.id;
    return null;
end;
$$;

create constraint trigger trg_dlq_audit_chain
    after insert on dlq.dlq_audit
    deferrable initially deferred
    for each row
    execute function dlq.chain_audit();

-- Deletes up to p_limit entries of the days that ended by p_before. Returns how many. What is younger than a day stays,
-- whoever calls. The days remember that they were forgotten.
create function dlq.forget_audit(p_before timestamptz, p_limit int) returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_before  date := (least(p_before, now() - interval '1 day') at time zone 'UTC')::date;
    v_deleted int;
begin
    -- The chain of a day is deleted as a whole: what "at" puts before midnight may be chained after it.
    delete from dlq.dlq_audit
    where id = any(array(
        select id from dlq.dlq_audit
        where at < v_before::timestamp at time zone 'UTC' and coalesce(chain_day < v_before, true)
        order by at
        limit p_limit));
    get diagnostics v_deleted = row_count;
    update dlq.dlq_audit_days set forgotten_at = now() where day < v_before and forgotten_at is null;
    return v_deleted;
end;
$$;

-- As in 015, and nobody but the owner changes or deletes an entry of the audit.
create or replace function dlq.apply_grants() returns void
language plpgsql
as $$
declare
    v_dead_letter constant text := 'dlq.dead_letter(text, jsonb, text, text, text, bytea, text, jsonb, text, interval, int)';
    v_pull constant text := 'dlq.claim_messages(text, int, interval, int), dlq.resolve_messages(uuid[], uuid),
        dlq.fail_message(uuid, uuid, text, text, text, interval), dlq.release_messages(uuid[], uuid),
        dlq.extend_leases(uuid[], uuid, interval),
        dlq.begin_pass(text, text, interval), dlq.extend_pass(text, text, interval), dlq.end_pass(text, text, interval)';
    v_role name;
begin
    revoke execute on all routines in schema dlq from public;
    -- Defaults of columns run as whoever inserts.
    grant execute on function dlq.new_message_id(), dlq.uuid_floor(timestamptz) to public;
    for v_role in select rolname from pg_roles where rolname in ('dlq_writer', 'dlq_reader', 'dlq_app', 'dlq_admin') loop
        execute format('grant usage on schema dlq to %I', v_role);
        case v_role
            when 'dlq_writer' then
                execute format('grant execute on function %s to dlq_writer', v_dead_letter);
            when 'dlq_app' then
                execute format('grant execute on function %s, %s to dlq_app', v_dead_letter, v_pull);
            when 'dlq_reader' then
                grant select on all tables in schema dlq to dlq_reader;
            else
                grant select, insert, update, delete on all tables in schema dlq to dlq_admin;
                revoke update, delete on dlq.dlq_audit from dlq_admin;
                revoke insert, update, delete on dlq.dlq_audit_days from dlq_admin;
                grant usage on all sequences in schema dlq to dlq_admin;
                grant execute on all routines in schema dlq to dlq_admin;
                revoke execute on function dlq.forget_audit(timestamptz, int) from dlq_admin;
        end case;
    end loop;
end;
$$;

select dlq.apply_grants();
