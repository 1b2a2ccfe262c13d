-- Closes what functions left open. A database may hold a header whose name has a NUL: whoever read its message, or stored
-- its next failure, was refused by PostgreSQL. And dlq_admin could call functions that act as the schema's owner, so it
-- could change the audit.

-- After this time others go on, and the migration is run again.
set local lock_timeout = '800ms';

-- As in 050, but without taking names and texts out of JSON, for which PostgreSQL would have to hold a NUL.
create or replace function dlq.whole_headers(
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
                       when hole->>'own' = 'text' then item->'framed'->place
                       when hole->>'own' = 'base64' then json_build_object('base64', item->'framed'->place)
                       when hole->>'column' = 'error_message' then to_json(coalesce(hole->>'before', '') || p_message)
                       when hole->>'as' = 'int4' then json_build_object('base64', encode(int4send(p_partition), 'base64'))
                       when hole->>'as' = 'int8' then json_build_object('base64', encode(int8send(p_offset), 'base64'))
                       when hole->>'column' = 'original_partition' then to_json(p_partition::text)
                       when hole->>'column' = 'original_offset' then to_json(p_offset::text)
                       else value
                   end), number
            from (
                select parts[1] as name, parts[2] as value, hole, number,
                       (count(*) filter (where hole->>'own' is not null) over (order by number))::int - 1 as place
                from json_array_elements(v_template) with ordinality as template (pair, number)
                cross join lateral (
                    select array_agg(part order by at) from json_array_elements(pair) with ordinality as of_pair (part, at)
                ) of_pair (parts)
                cross join lateral (select case when json_typeof(parts[2]) = 'object' then parts[2] end) of_value (hole)
            ) framed
            where json_typeof(item) = 'object'
        ) whole);
end;
$$;

-- A day is hashed as it is verified, whatever DateStyle a session has. And of the functions that act as the owner, dlq_admin
-- calls none that erases from the audit, and puts none on a table of its own as a trigger: the columns there may have
-- types whose casts are functions of its own. Only these words of the two functions change.
do $$
begin
    execute replace(pg_get_functiondef('dlq.chain_audit()'::regprocedure), 'v_day::text', 'to_char(v_day, ''YYYY-MM-DD'')');
    execute replace(pg_get_functiondef('dlq.apply_grants()'::regprocedure),
        'revoke execute on function dlq.forget_audit(timestamptz, int) from dlq_admin;',
        'revoke execute on function dlq.forget_audit(timestamptz, int), dlq.erase_audit(uuid, text, text[]),
                    dlq.erase_reads(uuid, uuid[], text[]), dlq.chain_audit(), dlq.count_inserted(), dlq.count_updated(),
                    dlq.count_deleted(), dlq.count_truncated(), dlq.schedule_inserted(), dlq.keep_stack_trace() from dlq_admin;');
end;
$$;

select dlq.apply_grants();
