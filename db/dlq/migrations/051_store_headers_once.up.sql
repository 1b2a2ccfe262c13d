-- Headers of failures, stored once. A framework writes the same names of headers, classes, topics and groups wherever a
-- consumer fails at one place; only a few values are a record's own (infra/docs/decisions/070-headers-stored-once.md).

set local lock_timeout = '5s';

-- Beside the frames: pairs of name and value, with holes for the values that are a row's own. Null: only frames.
alter table dlq.dlq_stack_frames add column headers json;

-- The headers as `record_headers` would hold them whole: each `{"framed": […]}` is replaced by the template, whose holes
-- `{"own": "text"}` and `{"own": "base64"}` take the values in it one after the other, and whose
-- `{"column": "error_message", "before": "…"}` takes the message behind that text.
create function dlq.whole_headers(p_headers json, p_frames_id uuid, p_message text) returns json
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    v_template json;
begin
    -- In a text of the JSON the quotes would be escaped, so this finds nothing inside one.
    if p_headers is null or p_frames_id is null or position('{"framed":' in p_headers::text) = 0 then
        return p_headers;
    end if;
    select headers into v_template from dlq.dlq_stack_frames where id = p_frames_id;
    if v_template is null then
        return p_headers;
    end if;
    return (
        select json_agg(header order by at, number)
        from json_array_elements(p_headers) with ordinality as stored (item, at)
        cross join lateral (
            select item as header, 0::bigint as number where json_typeof(item) = 'array'
            union all
            select json_build_array(name, case
                       when value->>'own' = 'text' then item->'framed'->place
                       when value->>'own' = 'base64' then json_build_object('base64', item->'framed'->place)
                       when value->>'column' = 'error_message' then to_json(coalesce(value->>'before', '') || p_message)
                       else value
                   end), number
            from (
                select pair->0 as name, pair->1 as value, number,
                       (count(*) filter (where pair->1->>'own' is not null) over (order by number))::int - 1 as place
                from json_array_elements(v_template) with ordinality as template (pair, number)
            ) framed
            where json_typeof(item) = 'object'
        ) whole);
end;
$$;

create function dlq.record_headers(m dlq.dlq_messages) returns json
language sql stable parallel safe
as $$ select dlq.whole_headers(m.record_headers, m.frames_id, m.error_message) $$;

create function dlq.record_headers(m dlq.dlq_messages_archive) returns json
language sql stable parallel safe
as $$ select dlq.whole_headers(m.record_headers, m.frames_id, m.error_message) $$;

-- As in 026, also for headers that refer to the message, and without headers for whoever empties them.
create or replace function dlq.keep_stack_trace() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if old.error_stacktrace is not distinct from new.error_stacktrace then
        -- Whoever writes other headers, writes them whole.
        if new.record_headers::text is not distinct from old.record_headers::text then
            new.record_headers := dlq.whole_headers(old.record_headers, old.frames_id, old.error_message);
        end if;
        return new;
    end if;
    if new.record_headers is not null then
        new.record_headers := replace(
            dlq.whole_headers(old.record_headers, old.frames_id, old.error_message)::text,
            '{"column":"error_stacktrace"}',
            to_json(dlq.whole_stack_trace(old.error_stacktrace, old.frames_id))::text)::json;
    end if;
    if new.frames_id is not distinct from old.frames_id then
        new.frames_id := null;
    end if;
    return new;
end;
$$;

drop trigger trg_dlq_messages_stack_trace on dlq.dlq_messages;
create trigger trg_dlq_messages_stack_trace
    before update on dlq.dlq_messages
    for each row
    when (old.frames_id is not null
          and (old.error_stacktrace is distinct from new.error_stacktrace or old.error_message is distinct from new.error_message))
    execute function dlq.keep_stack_trace();

-- Applications that claim by SQL get whole headers, and who reads messages may read them whole. Only these words of the
-- two functions change.
do $$
begin
    execute replace(pg_get_functiondef('dlq.claim_messages(text, int, interval, int)'::regprocedure),
        'm.record_value, m.record_headers', 'm.record_value, dlq.record_headers(m)');
    execute replace(pg_get_functiondef('dlq.apply_grants()'::regprocedure),
        'dlq.whole_stack_trace(text, uuid),',
        'dlq.whole_stack_trace(text, uuid), dlq.whole_headers(json, uuid, text), dlq.record_headers(dlq.dlq_messages),
                    dlq.record_headers(dlq.dlq_messages_archive),');
end;
$$;

select dlq.apply_grants();
