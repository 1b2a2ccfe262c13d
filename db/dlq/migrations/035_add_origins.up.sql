-- The record that failed, beside the copy of it that stands on the DLQ topic (infra/docs/payloads.md): frameworks that
-- serialise the value again change it, or lose it.

set local lock_timeout = '5s';

-- Null: nobody has compared. 1 same, 2 different, 3 mismatch, 4 unproved, 5 gone, 6 unreachable, 7 wanted (is looked for
-- again), 8 value_lost. More than 10, which is added: the message is not sent unless somebody forces its retry.
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
    alter table dlq.dlq_messages add column origin_state int;
    alter table dlq.dlq_messages_archive add column origin_state int;
    foreach v_name in array array['dlq.archive_messages', 'dlq.restore_messages']::regproc[] loop
        v_text := pg_get_functiondef(v_name);
        if position(v_old in v_text) = 0 then
            raise exception '% does not name the columns of dlq_messages', v_name;
        end if;
        v_text := replace(v_text, v_old, v_old || ', origin_state');
        execute replace(v_text, v_restored, v_restored || ', origin_state');
    end loop;
end;
$outer$;

alter table dlq.dlq_policies
    -- What is sent: the DLQ's copy; the original; or the original where it can be had.
    add column record text,
    add constraint chk_dlq_policies_record check (record in ('dlq', 'origin', 'origin-if-available'));

create table dlq.dlq_message_origins (
    message_id       uuid        not null,
    -- same, different, mismatch, unproved, gone, unreachable
    state            text        not null,
    -- Which of key, value and headers differ from the copy.
    differs          text[]      not null default '{}',
    -- The record that stands at the original coordinates; null where there is none, or not the one that failed.
    record_key       bytea,
    record_value     bytea,
    record_headers   json,
    record_timestamp timestamptz,
    -- Why it could not be read.
    problem          text,
    compared_at      timestamptz not null default clock_timestamp(),
    tries            int         not null default 1,
    -- When a record that could not be read is looked for again.
    next_try_at      timestamptz,

    constraint dlq_message_origins_pkey primary key (message_id),
    constraint chk_dlq_message_origins_state
        check (state in ('same', 'different', 'mismatch', 'unproved', 'gone', 'unreachable'))
);
create index idx_dlq_message_origins_next_try on dlq.dlq_message_origins (next_try_at) where next_try_at is not null;

-- It goes with its message, also where a whole partition or quarter goes.
do $outer$
declare
    v_name regproc;
    v_text text;
    v_edits constant text := 'execute format(''delete from dlq.dlq_message_edits e';
begin
    foreach v_name in array array['dlq.drop_archived_quarter', 'dlq.drop_message_partition']::regproc[] loop
        v_text := pg_get_functiondef(v_name);
        if position(v_edits in v_text) = 0 then
            raise exception '% does not delete edits', v_name;
        end if;
        execute regexp_replace(v_text, '(execute format\(''delete from dlq\.)dlq_message_edits( e [^;]*;)',
            '\1dlq_message_origins\2' || E'\n        ' || '\1dlq_message_edits\2');
    end loop;
end;
$outer$;

select dlq.apply_grants();
