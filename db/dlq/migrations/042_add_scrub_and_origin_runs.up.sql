-- Policies that take personal data out of what failures say, before it is stored, and runs that compare messages with the
-- records that failed (infra/docs/payloads.md). Nothing is rewritten: the columns are null for every message that is stored.

set local lock_timeout = '5s';

alter table dlq.dlq_policies
    -- Names of detectors (email, iban, card), or patterns in RE2's syntax. Empty: none, also where a wider pattern has some.
    add column scrub text[],
    add constraint chk_dlq_policies_scrub check (
        cardinality(scrub) = 0
        or array_ndims(scrub) = 1 and cardinality(scrub) <= 20 and array_position(scrub, null) is null
           and length(array_to_string(scrub, '')) <= 20000);

-- Whether something was taken out of a message: error message, stack trace, headers of the failure.
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
    alter table dlq.dlq_messages add column is_scrubbed boolean;
    alter table dlq.dlq_messages_archive add column is_scrubbed boolean;
    foreach v_name in array array['dlq.archive_messages', 'dlq.restore_messages']::regproc[] loop
        v_text := pg_get_functiondef(v_name);
        if position(v_old in v_text) = 0 then
            raise exception '% does not name the columns of dlq_messages', v_name;
        end if;
        v_text := replace(v_text, v_old, v_old || ', is_scrubbed');
        execute replace(v_text, v_restored, v_restored || ', is_scrubbed');
    end loop;
end;
$outer$;

-- Runs that compare messages with the records that failed.
alter table dlq.dlq_runs
    -- Originals that are proved take the place of their copies.
    add column adopts   boolean not null default false,
    -- How many originals were found in which state.
    add column compared json,
    drop constraint chk_dlq_runs_kind,
    add constraint chk_dlq_runs_kind check (
        kind in ('retry', 'redirect', 'dead', 'revive', 'delete', 'archive', 'restore', 'purge', 'edit', 'erase', 'origin'));

-- A view is what its text says, and 034's tests want every column that has no content.
do $outer$
declare
    v_name regclass;
begin
    foreach v_name in array array['dlq.observed_messages', 'dlq.observed_messages_archive']::regclass[] loop
        execute format('create or replace view %s as %s', v_name,
            regexp_replace(pg_get_viewdef(v_name), '\s+FROM ', ', is_scrubbed FROM '));
    end loop;
end;
$outer$;
