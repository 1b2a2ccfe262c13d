-- What somebody should hear of, who wants to hear of what, and what was sent to whom. Channels are configuration, because
-- their addresses are secrets (infra/docs/notifications.md).

set local lock_timeout = '5s';

-- Transitions, not messages: a new error group, a run that ended; and conditions, which begin and end.
create table dlq.dlq_events (
    -- Derived from what happened, so that it is noted once, whoever notices it.
    id             uuid        not null,
    type           text        not null,
    -- What it is about, such as a run or a group of a topic.
    subject        text        not null,
    severity       text        not null,
    title          text        not null,
    original_topic text,
    dlq_topic      text,
    group_id       uuid,
    run_id         uuid,
    owner          text,
    -- Counts, names and ids; never a payload or a key.
    data           json        not null default '{}',
    is_condition   boolean     not null,
    at             timestamptz not null default clock_timestamp(),
    ended_at       timestamptz,

    constraint dlq_events_pkey primary key (id),
    constraint chk_dlq_events_severity check (severity in ('info', 'warning', 'critical'))
);
create index idx_dlq_events_at on dlq.dlq_events (at);
create unique index idx_dlq_events_open on dlq.dlq_events (type, subject) where is_condition and ended_at is null;

-- One row: when a retrier next looks for events, and up to when one has.
create table dlq.dlq_event_watch (
    only_row    boolean     not null default true,
    look_due_at timestamptz not null default now(),
    -- What happened before the first look is no news.
    looked_at   timestamptz not null default now(),

    constraint dlq_event_watch_pkey primary key (only_row),
    constraint chk_dlq_event_watch_only_row check (only_row)
);
insert into dlq.dlq_event_watch default values;

create table dlq.dlq_notification_routes (
    name           text        not null,
    channel        text        not null,
    -- Empty: all.
    types          text[]      not null default '{}',
    topics         text[]      not null default '{}',
    owners         text[]      not null default '{}',
    min_severity   text        not null default 'info',
    -- Further events of this time go out together.
    digest         interval    not null default '5 minutes',
    -- A condition that lasts is said again.
    repeat_every   interval    not null default '4 hours',
    -- Such as "22:00-07:00 Europe/Berlin"; critical events go through.
    quiet          text,
    muted_until    timestamptz,
    -- DEAD messages of one topic from which on it is said.
    dead_threshold int,
    updated_at     timestamptz not null default now(),

    constraint dlq_notification_routes_pkey primary key (name),
    constraint chk_dlq_notification_routes_name check (name ~ '^[a-z0-9][a-z0-9-]{0,99}$'),
    constraint chk_dlq_notification_routes_severity check (min_severity in ('info', 'warning', 'critical')),
    constraint chk_dlq_notification_routes_digest check (digest between interval '0' and interval '1 day'),
    constraint chk_dlq_notification_routes_repeat check (repeat_every between interval '1 minute' and interval '30 days'),
    constraint chk_dlq_notification_routes_dead check (dead_threshold between 1 and 1000000000)
);

-- The configured channels as the retriers last reported them, for the API, which may have no secrets.
create table dlq.dlq_notification_channels (
    name            text        not null,
    kind            text        not null,
    host            text        not null,
    seen_at         timestamptz not null default now(),
    -- The receiver said 410: it is gone for good.
    disabled_at     timestamptz,
    delivered_at    timestamptz,
    last_error      text,

    constraint dlq_notification_channels_pkey primary key (name)
);

create table dlq.dlq_deliveries (
    id          uuid        not null default gen_random_uuid(),
    channel     text        not null,
    -- Null for a test.
    route       text,
    -- begin, again (it lasts), end (it is over), test
    kind        text        not null,
    event_ids   uuid[]      not null default '{}',
    state       text        not null default 'waiting',
    attempts    int         not null default 0,
    send_at     timestamptz not null,
    last_status int,
    last_error  text,
    created_at  timestamptz not null default clock_timestamp(),
    settled_at  timestamptz,

    constraint dlq_deliveries_pkey primary key (id),
    constraint chk_dlq_deliveries_kind check (kind in ('begin', 'again', 'end', 'test')),
    constraint chk_dlq_deliveries_state check (state in ('waiting', 'delivered', 'dead'))
);
create index idx_dlq_deliveries_created_at on dlq.dlq_deliveries (created_at);
create index idx_dlq_deliveries_route on dlq.dlq_deliveries (route, created_at);
create index idx_dlq_deliveries_events on dlq.dlq_deliveries using gin (event_ids);
