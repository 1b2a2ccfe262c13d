-- Headers of failures, stored once. A framework writes the same names of headers, classes, topics and groups wherever a
-- consumer fails at one place; only a few values are a record's own (infra/docs/decisions/070-headers-stored-once.md).
-- What other columns of the row hold, its error, partition and offset, is not stored a second time either.

-- After this time others go on, and the migration is run again.
set local lock_timeout = '800ms';

-- Beside the frames: pairs of name and value, with holes for the values that are a row's own. Null: frames of before, in
-- which "⋮⋮" is no hole.
alter table dlq.dlq_stack_frames add column headers json;

-- The headers as `record_headers` would hold them whole: each `{"framed": […]}` is replaced by the template, whose holes
-- `{"own": "text"}` and `{"own": "base64"}` take the values in it one after the other. `{"column": "error_message",
-- "before": "…"}` takes the message behind that text, and `{"column": "original_offset", "as": "int8"}` the number's bytes.
create function dlq.whole_headers(
    p_headers json, p_frames_id uuid, p_message text, p_partition int, p_offset bigint
) returns json
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
        -- A restore has lost it. What is left are the record's other headers.
        return (select coalesce(json_agg(item order by at), '[]')
                from json_array_elements(p_headers) with ordinality as stored (item, at)
                where json_typeof(item) = 'array');
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
                       when value->>'as' = 'int4' then json_build_object('base64', encode(int4send(p_partition), 'base64'))
                       when value->>'as' = 'int8' then json_build_object('base64', encode(int8send(p_offset), 'base64'))
                       when value->>'column' = 'original_partition' then to_json(p_partition::text)
                       when value->>'column' = 'original_offset' then to_json(p_offset::text)
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

-- As dlq.whole_stack_trace(text, uuid) of 026, also where frames have "⋮⋮" in place of the error that the row names.
create function dlq.whole_stack_trace(p_text text, p_frames_id uuid, p_class text, p_message text) returns text
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
    v_frames text[];
    v_error  text;
    v_lines  text[];
begin
    if p_text is null or p_frames_id is null then
        return p_text;
    end if;
    select frames, case when headers is not null then p_class || ': ' || p_message end into v_frames, v_error
    from dlq.dlq_stack_frames where id = p_frames_id;
    v_lines := string_to_array(p_text, E'\t⋮\n');
    if v_frames is null or cardinality(v_lines) <> cardinality(v_frames) + 1 then
        return p_text;
    end if;
    return (select string_agg(line || coalesce(replace(frame, '⋮⋮', coalesce(v_error, '⋮⋮')), ''), '' order by number)
            from unnest(v_lines, v_frames) with ordinality as part (line, frame, number));
end;
$$;

create or replace function dlq.stack_trace(m dlq.dlq_messages) returns text
language sql stable parallel safe
as $$ select dlq.whole_stack_trace(m.error_stacktrace, m.frames_id, m.error_class, m.error_message) $$;

create or replace function dlq.stack_trace(m dlq.dlq_messages_archive) returns text
language sql stable parallel safe
as $$ select dlq.whole_stack_trace(m.error_stacktrace, m.frames_id, m.error_class, m.error_message) $$;

create function dlq.record_headers(m dlq.dlq_messages) returns json
language sql stable parallel safe
as $$ select dlq.whole_headers(m.record_headers, m.frames_id, m.error_message, m.original_partition, m.original_offset) $$;

create function dlq.record_headers(m dlq.dlq_messages_archive) returns json
language sql stable parallel safe
as $$ select dlq.whole_headers(m.record_headers, m.frames_id, m.error_message, m.original_partition, m.original_offset) $$;

-- As in 026, also for headers that refer to other columns, and without headers for whoever empties them. Whoever writes
-- other headers, writes them whole.
create or replace function dlq.keep_stack_trace() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_headers json := dlq.whole_headers(
        old.record_headers, old.frames_id, old.error_message, old.original_partition, old.original_offset);
    v_trace   text := dlq.whole_stack_trace(old.error_stacktrace, old.frames_id, old.error_class, old.error_message);
begin
    if old.error_stacktrace is not distinct from new.error_stacktrace then
        new.error_stacktrace := v_trace;
        if new.record_headers::text is distinct from old.record_headers::text then
            v_headers := new.record_headers;
        end if;
    end if;
    if new.record_headers is not null then
        -- Headers that came without a stack trace refer to none.
        new.record_headers := case when v_trace is null then v_headers
            else replace(v_headers::text, '{"column":"error_stacktrace"}', to_json(v_trace)::text)::json end;
    end if;
    if new.frames_id is not distinct from old.frames_id then
        new.frames_id := null;
    end if;
    return new;
end;
$$;

-- Only a statement that names a column can change it. Without the list of columns, the condition compared the stored trace
-- with itself at each update, and decompressed it twice: 4 µs of the 50 that a claim took a row, and as much at its
-- settlement. Replaced, not dropped: writers wait, readers do not.
create or replace trigger trg_dlq_messages_stack_trace
    before update of error_stacktrace, error_message, error_class, original_partition, original_offset on dlq.dlq_messages
    for each row
    when (old.frames_id is not null
          and (old.error_stacktrace is distinct from new.error_stacktrace
               or old.error_message is distinct from new.error_message
               or old.error_class is distinct from new.error_class
               or old.original_partition is distinct from new.original_partition
               or old.original_offset is distinct from new.original_offset))
    execute function dlq.keep_stack_trace();

-- Applications that claim by SQL get whole headers, and who reads messages may read them whole. Only these words of the
-- two functions change.
do $$
begin
    execute replace(pg_get_functiondef('dlq.claim_messages(text, int, interval, int)'::regprocedure),
        'm.record_value, m.record_headers', 'm.record_value, dlq.record_headers(m)');
    execute replace(pg_get_functiondef('dlq.apply_grants()'::regprocedure),
        'dlq.whole_stack_trace(text, uuid),',
        'dlq.whole_stack_trace(text, uuid, text, text), dlq.whole_headers(json, uuid, text, int, bigint), dlq.record_headers(dlq.dlq_messages),
                    dlq.record_headers(dlq.dlq_messages_archive),');
end;
$$;

drop function dlq.whole_stack_trace(text, uuid);

select dlq.apply_grants();
