-- The pause of an error group is judged by the share of its retries that fail again, and probed with a few messages;
-- and each retrier says which topics it holds because their records are refused.

set local lock_timeout = '5s';

-- At least this share of a group's retries must fail again before its automatic retries are paused; 0: any share.
alter table dlq.dlq_policies add column refailure_share numeric,
    add constraint chk_dlq_policies_refailure_share check (refailure_share between 0 and 1);

-- How long nine of ten of the group's re-failures took at most. A probe that has not failed again after three times
-- as long has succeeded.
alter table dlq.dlq_group_pauses add column refails_after interval;

-- The messages that a paused group is probed with, and the attempt that is watched. probe_id and probe_attempt of
-- dlq_group_pauses are for retriers of the version before.
create table dlq.dlq_group_probes (
    original_topic text not null,
    group_id       uuid not null,
    message_id     uuid not null,
    attempt        int  not null,

    constraint dlq_group_probes_pkey primary key (original_topic, group_id, message_id)
);
create index idx_dlq_group_probes_message_id on dlq.dlq_group_probes (message_id);

-- How many retries of an error group were published lately, in stretches of ten seconds. The retriers count in memory
-- and write here every few seconds; counting dlq_attempts would cost more the more is retried.
create table dlq.dlq_group_retries (
    original_topic text        not null,
    group_id       uuid        not null,
    began_at       timestamptz not null,
    published      int         not null,

    constraint dlq_group_retries_pkey primary key (original_topic, group_id, began_at)
) with (
    -- Written often and soon deleted: room for new versions on the same page, and no threshold that waits for more rows.
    fillfactor = 50,
    autovacuum_vacuum_threshold = 100,
    autovacuum_vacuum_scale_factor = 0.2
);
create index idx_dlq_group_retries_began_at on dlq.dlq_group_retries (began_at);

-- A list of { topic, reason, since }.
alter table dlq.dlq_retriers add column held_topics json not null default '[]';
