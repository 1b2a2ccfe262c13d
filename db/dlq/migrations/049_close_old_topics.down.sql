-- Loses which topics were deleted and created again. A shorter log tells it again.

set local lock_timeout = '5s';

create or replace function dlq.verdict(
    p_consumer_group text, p_topic text, p_partition int, p_offset bigint,
    p_settled_at timestamptz, p_failed_again_at timestamptz, p_confirmed_at timestamptz default null
) returns table (verdict text, verdict_reason text, judged_by text, read_at timestamptz, horizon_until timestamptz)
language sql stable as $$
    select case
               when p_failed_again_at is not null then 'came_back'
               when p_confirmed_at is not null then 'confirmed'
               when p_offset is null or r.readers = 0 or r.is_new_topic then 'unknown'
               when r.skipped then 'skipped'
               when r.settled = r.readers then 'consumed'
               when r.passed = r.readers then 'passed'
               when r.forbidden or r.gone or r.shared or r.silent then 'unknown'
               when r.expired then 'expired'
               else 'sent'
           end,
           case
               when p_failed_again_at is not null or p_confirmed_at is not null then null
               when p_offset is null then 'no_place'
               when r.readers = 0 then 'no_group'
               when r.is_new_topic then 'new_topic'
               when r.skipped or r.passed = r.readers then null
               when r.forbidden then 'not_allowed'
               when r.gone then 'group_gone'
               when r.shared then 'share_group'
               when r.silent then 'no_commits'
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
               -- What a share group has handled above its start offset, Kafka does not say.
               coalesce(bool_or(g.type = 'share' and p.passed_offset <= p_offset), false) as shared,
               -- A group that has just begun has an hour for its first commit.
               coalesce(bool_or(not g.has_commits and g.members > 0 and p_settled_at < now() - interval '1 hour'), false) as silent,
               coalesce(bool_or(exists (
                   select from dlq.dlq_reader_gaps gap
                   where gap.target_topic = p.target_topic and gap.partition = p.partition
                     and gap.consumer_group = p.consumer_group and gap.seen_at > p_settled_at
                     and p_offset >= gap.from_offset and p_offset < gap.to_offset)), false) as skipped,
               string_agg(p.consumer_group, ', ' order by p.consumer_group) as judged_by,
               max(passed.at) as read_at,
               max(passed.at + g.horizon) as horizon_until
        from (
            select coalesce(
                (select own.consumer_group from dlq.dlq_readers own
                 where own.target_topic = p_topic and own.consumer_group = p_consumer_group),
                (select named.consumer_group from dlq.dlq_reader_topics t
                 join dlq.dlq_readers named on named.target_topic = t.target_topic and named.consumer_group = t.verdict_group
                 where t.target_topic = p_topic)) as name
        ) judge
        join dlq.dlq_reader_partitions p on p.target_topic = p_topic and p.partition = p_partition
        join dlq.dlq_readers g on g.target_topic = p.target_topic and g.consumer_group = p.consumer_group
        left join lateral (
            select min(mark.at) as at from json_to_recordset(p.marks) as mark (below bigint, at timestamptz)
            where mark.below > p_offset
        ) passed on true
        where p.consumer_group = judge.name or (judge.name is null and g.members > 0)
    ) r
$$;

drop table dlq.dlq_target_topics;
