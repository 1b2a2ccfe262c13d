-- Loses which messages have the same headers: each gets its headers and its stack trace back. At millions of messages
-- that takes minutes, and locks them.

set local lock_timeout = '5s';

drop trigger trg_dlq_messages_stack_trace on dlq.dlq_messages;
-- Nobody has changed the messages: they keep their updated_at.
do $$
declare
    v_table regclass;
    v_is_on boolean;
begin
    foreach v_is_on in array array[false, true] loop
        for v_table in
            select 'dlq.dlq_messages'::regclass
            union all
            select inhrelid from pg_inherits where inhparent = 'dlq.dlq_messages'::regclass
        loop
            execute format('alter table %s %s trigger trg_dlq_messages_updated_at',
                v_table, case when v_is_on then 'enable' else 'disable' end);
        end loop;
        if not v_is_on then
            update dlq.dlq_messages m set
                record_headers = dlq.record_headers(m), error_stacktrace = dlq.stack_trace(m), frames_id = null
            where frames_id in (select id from dlq.dlq_stack_frames where headers is not null);
        end if;
    end loop;
end;
$$;
update dlq.dlq_messages_archive m set
    record_headers = dlq.record_headers(m), error_stacktrace = dlq.stack_trace(m), frames_id = null
where frames_id in (select id from dlq.dlq_stack_frames where headers is not null);
delete from dlq.dlq_stack_frames where headers is not null;

create function dlq.whole_stack_trace(p_text text, p_frames_id uuid) returns text
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    v_frames text[];
    v_lines  text[];
begin
    if p_text is null or p_frames_id is null then
        return p_text;
    end if;
    select frames into v_frames from dlq.dlq_stack_frames where id = p_frames_id;
    v_lines := string_to_array(p_text, E'\t⋮\n');
    if v_frames is null or cardinality(v_lines) <> cardinality(v_frames) + 1 then
        return p_text;
    end if;
    return (select string_agg(line || coalesce(frame, ''), '' order by number)
            from unnest(v_lines, v_frames) with ordinality as part (line, frame, number));
end;
$$;

create or replace function dlq.stack_trace(m dlq.dlq_messages) returns text
language sql stable parallel safe
as $$ select dlq.whole_stack_trace(m.error_stacktrace, m.frames_id) $$;

create or replace function dlq.stack_trace(m dlq.dlq_messages_archive) returns text
language sql stable parallel safe
as $$ select dlq.whole_stack_trace(m.error_stacktrace, m.frames_id) $$;

do $$
begin
    execute replace(pg_get_functiondef('dlq.claim_messages(text, int, interval, int)'::regprocedure),
        'dlq.record_headers(m)', 'm.record_headers');
    execute regexp_replace(pg_get_functiondef('dlq.apply_grants()'::regprocedure),
        'dlq\.whole_stack_trace\(text, uuid, text, text\), dlq\.whole_headers\(json, uuid, text, int, bigint\), dlq\.record_headers\(dlq\.dlq_messages\),\s*dlq\.record_headers\(dlq\.dlq_messages_archive\),', 'dlq.whole_stack_trace(text, uuid),');
end;
$$;

-- As in 026.
create or replace function dlq.keep_stack_trace() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    new.record_headers := replace(old.record_headers::text, '{"column":"error_stacktrace"}',
        to_json(dlq.whole_stack_trace(old.error_stacktrace, old.frames_id))::text)::json;
    if new.frames_id is not distinct from old.frames_id then
        new.frames_id := null;
    end if;
    return new;
end;
$$;

create trigger trg_dlq_messages_stack_trace
    before update on dlq.dlq_messages
    for each row
    when (old.frames_id is not null and old.error_stacktrace is distinct from new.error_stacktrace)
    execute function dlq.keep_stack_trace();

drop function dlq.record_headers(dlq.dlq_messages);
drop function dlq.record_headers(dlq.dlq_messages_archive);
drop function dlq.whole_headers(json, uuid, text, int, bigint);
drop function dlq.whole_stack_trace(text, uuid, text, text);
alter table dlq.dlq_stack_frames drop column headers;

select dlq.apply_grants();
