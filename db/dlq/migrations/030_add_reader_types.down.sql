-- Loses confirmations, and the policies' for_group_header, verdict_group, verdict_horizon and auto_resolve.
set local lock_timeout = '5s';

drop function if exists dlq.verdict(text, text, int, bigint, timestamptz, timestamptz, timestamptz);
alter table dlq.dlq_policies
    drop column if exists auto_resolve,
    drop column if exists verdict_horizon,
    drop column if exists verdict_group,
    drop column if exists for_group_header;
do $outer$
declare
    v_name regproc;
begin
    foreach v_name in array array['dlq.archive_messages', 'dlq.restore_messages']::regproc[] loop
        execute replace(pg_get_functiondef(v_name), ', confirmed_at, confirmed_by', '');
    end loop;
end;
$outer$;
alter table dlq.dlq_attempts_archive drop column if exists confirmed_by, drop column if exists confirmed_at;
alter table dlq.dlq_attempts drop column if exists confirmed_by, drop column if exists confirmed_at;
drop table if exists dlq.dlq_reader_topics;
alter table dlq.dlq_readers
    drop column if exists has_commits,
    drop column if exists type;

-- What became of a published attempt. Without the group's offsets on the topic, it is judged by all groups that read
-- the topic now, and has passed when all of them have.
--   sent       its group has not committed past it
--   passed     the group has committed past it; it may still come back
--   consumed   the same, and what would have come back has done so
--   came_back  it failed again
--   skipped    the group's offset was moved past it
--   expired    retention deleted it before it was read
--   unknown    with a reason: no_place, no_group, group_gone, not_allowed, new_topic
create function dlq.verdict(
    p_consumer_group text, p_topic text, p_partition int, p_offset bigint,
    p_settled_at timestamptz, p_failed_again_at timestamptz
) returns table (verdict text, verdict_reason text, judged_by text, read_at timestamptz, horizon_until timestamptz)
language sql stable as $$
    select case
               when p_failed_again_at is not null then 'came_back'
               when p_offset is null or r.readers = 0 or r.is_new_topic then 'unknown'
               when r.skipped then 'skipped'
               when r.settled = r.readers then 'consumed'
               when r.passed = r.readers then 'passed'
               when r.forbidden or r.gone then 'unknown'
               when r.expired then 'expired'
               else 'sent'
           end,
           case
               when p_failed_again_at is not null then null
               when p_offset is null then 'no_place'
               when r.readers = 0 then 'no_group'
               when r.is_new_topic then 'new_topic'
               when r.skipped or r.passed = r.readers then null
               when r.forbidden then 'not_allowed'
               when r.gone then 'group_gone'
           end,
           r.judged_by,
           case when r.passed = r.readers then r.read_at end,
           case when r.passed = r.readers then r.horizon_until end
    from (
        select count(*) as readers,
               count(*) filter (where p.passed_offset > p_offset) as passed,
               count(*) filter (where p.settled_offset > p_offset) as settled,
               coalesce(bool_or(p.passed_offset <= p_offset and p.log_start_offset > p_offset), false) as expired,
               coalesce(bool_or(p.log_end_offset <= p_offset and p.looked_at > p_settled_at), false) as is_new_topic,
               coalesce(bool_or(g.state = 'not_allowed'), false) as forbidden,
               coalesce(bool_or(g.state = 'Dead' and p.committed_offset is null and p.passed_offset <= p_offset), false) as gone,
               coalesce(bool_or(exists (
                   select from dlq.dlq_reader_gaps gap
                   where gap.target_topic = p.target_topic and gap.partition = p.partition
                     and gap.consumer_group = p.consumer_group and gap.seen_at > p_settled_at
                     and p_offset >= gap.from_offset and p_offset < gap.to_offset)), false) as skipped,
               string_agg(p.consumer_group, ', ' order by p.consumer_group) as judged_by,
               max(passed.at) as read_at,
               max(passed.at + g.horizon) as horizon_until
        from dlq.dlq_reader_partitions p
        join dlq.dlq_readers g on g.target_topic = p.target_topic and g.consumer_group = p.consumer_group
        left join lateral (
            select min(mark.at) as at from json_to_recordset(p.marks) as mark (below bigint, at timestamptz)
            where mark.below > p_offset
        ) passed on true
        where p.target_topic = p_topic and p.partition = p_partition
          and (p.consumer_group = p_consumer_group
               or (g.members > 0 and not exists (
                   select from dlq.dlq_readers own
                   where own.target_topic = p_topic and own.consumer_group = p_consumer_group)))
    ) r
$$;
