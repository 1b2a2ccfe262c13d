-- What consumer groups have read of the topics that messages are sent to. From this follows what became of an attempt
-- after it was published: sent is not read, and read is not worked (infra/docs/verdicts.md).
-- Nothing is written per message: a verdict is an attempt's offset beside one row of dlq_reader_partitions.

set local lock_timeout = '5s';

-- One row: when a retrier next looks at the groups, and when one last did.
create table dlq.dlq_reader_watch (
    only_row    boolean     not null default true,
    look_due_at timestamptz not null default now(),
    looked_at   timestamptz,

    constraint dlq_reader_watch_pkey primary key (only_row),
    constraint chk_dlq_reader_watch_only_row check (only_row)
);
insert into dlq.dlq_reader_watch default values;

-- A consumer group of a topic: one that has committed offsets there, reads it now, or has failed on its records.
create table dlq.dlq_readers (
    target_topic   text        not null,
    consumer_group text        not null,
    -- As Kafka says: Stable, Empty, Dead …; not_allowed where Kafka tells the retrier nothing of the group.
    state          text        not null,
    -- Members that read this topic. Null where Kafka does not say.
    members        int,
    -- How long after it was read a message may still come back.
    horizon        interval    not null,
    looked_at      timestamptz not null default now(),

    constraint dlq_readers_pkey primary key (target_topic, consumer_group)
);

create table dlq.dlq_reader_partitions (
    target_topic     text        not null,
    consumer_group   text        not null,
    partition        int         not null,
    -- What the group has committed. Null: nothing.
    committed_offset bigint,
    log_start_offset bigint      not null,
    log_end_offset   bigint      not null,
    -- Everything below was read once. It only rises, but for a topic that was made anew.
    passed_offset    bigint      not null default 0,
    -- Everything below was read, and what would have come back has done so.
    settled_offset   bigint      not null default 0,
    -- A list of { below, at }: below this offset everything had been read at that time. Oldest first.
    marks            json        not null default '[]',
    -- When somebody last moved the group's offset back.
    rewound_at       timestamptz,
    looked_at        timestamptz not null default now(),

    constraint dlq_reader_partitions_pkey primary key (target_topic, partition, consumer_group)
) with (
    -- Rewritten with every look.
    fillfactor = 50
);

-- Offsets that a group jumped over while it had no members: somebody has moved its offset.
create table dlq.dlq_reader_gaps (
    target_topic   text        not null,
    consumer_group text        not null,
    partition      int         not null,
    from_offset    bigint      not null,
    -- The first offset after the gap.
    to_offset      bigint      not null,
    seen_at        timestamptz not null default now(),

    constraint dlq_reader_gaps_pkey primary key (target_topic, partition, consumer_group, from_offset)
);

-- When the messages of a run's canary were first found to have been read. The canary's wait begins then.
alter table dlq.dlq_runs add column read_at timestamptz;

-- How many of a run's published attempts have which verdict, as of counted_at: a list of { verdict, count }.
create table dlq.dlq_run_verdicts (
    run_id     uuid        not null references dlq.dlq_runs (id) on delete cascade,
    counts     json        not null,
    -- Those that may still change.
    open       bigint      not null,
    counted_at timestamptz not null,

    constraint dlq_run_verdicts_pkey primary key (run_id)
);

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
