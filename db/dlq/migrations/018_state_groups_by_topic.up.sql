-- State, owner and note of an error group belong to one of its DLQ topics, because two teams may have the same failure.
-- A group whose last message is gone forgets its texts.

-- Whoever holds a lock longer makes this fail, and not everybody else wait.
set local lock_timeout = '5s';

alter table dlq.dlq_group_topics
    add column state            text not null default 'open',
    add column snoozed_until    timestamptz,
    add column state_changed_at timestamptz,
    add column owner            text,
    add column note             text,
    -- When the topic had the failure last; null for what was seen before this migration.
    add column last_seen_at     timestamptz,
    add constraint chk_dlq_group_topics_state check (state in ('open', 'snoozed', 'ignored', 'resolved')) not valid;
alter table dlq.dlq_group_topics validate constraint chk_dlq_group_topics_state;

update dlq.dlq_group_topics t
set state = g.state, snoozed_until = g.snoozed_until, state_changed_at = g.state_changed_at, owner = g.owner, note = g.note,
    last_seen_at = g.last_seen_at
from dlq.dlq_groups g
where g.id = t.group_id and (g.state <> 'open' or g.state_changed_at is not null or g.owner is not null or g.note is not null);

alter table dlq.dlq_groups
    -- Since when its texts are empty.
    add column forgotten_at timestamptz,
    -- When a message of it was archived last, give or take a day: the archive has no index by group. What was archived
    -- before this migration counts as archived now.
    add column archived_at  timestamptz default now(),
    -- Archived messages of it were deleted since somebody looked whether any is left.
    add column purged_at    timestamptz;
alter table dlq.dlq_groups alter column archived_at drop default;

-- The API of the version before writes them into dlq_groups, for all topics of the group.
create function dlq.copy_group_state() returns trigger
language plpgsql
as $$
begin
    update dlq.dlq_group_topics
    set state = new.state, snoozed_until = new.snoozed_until, state_changed_at = new.state_changed_at,
        owner = new.owner, note = new.note
    where group_id = new.id;
    return null;
end;
$$;

create trigger trg_dlq_groups_copy_state
    after update of state, snoozed_until, state_changed_at, owner, note on dlq.dlq_groups
    for each row
    when ((old.state, old.snoozed_until, old.state_changed_at, old.owner, old.note)
        is distinct from (new.state, new.snoozed_until, new.state_changed_at, new.owner, new.note)
        and new.forgotten_at is not distinct from old.forgotten_at)
    execute function dlq.copy_group_state();

create function dlq.note_archived_groups() returns trigger
language plpgsql
as $$
begin
    -- In the order in which everybody locks groups, and once a day at most.
    with stale as materialized (
        select id from dlq.dlq_groups
        where id = any(array(select distinct group_id from inserted))
          and (archived_at is null or archived_at < (select max(archived_at) from inserted) - interval '1 day')
        order by id
        for update
    )
    update dlq.dlq_groups g set archived_at = (select max(archived_at) from inserted) from stale where g.id = stale.id;
    return null;
end;
$$;

create trigger trg_dlq_messages_archive_groups
    after insert on dlq.dlq_messages_archive
    referencing new table as inserted
    for each statement
    execute function dlq.note_archived_groups();
