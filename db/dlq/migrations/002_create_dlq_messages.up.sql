-- dlq_messages: one row per dead letter. The first ten columns are the specification's.
--
-- The table is range-partitioned by month of id. An id is a UUIDv7 whose first 48 bits are
-- the record's timestamp, so "primary key (id)" is legal on the partitioned table and there
-- is no second clock. There is no default partition: partitions are made ahead, a month
-- that is still missing is made on demand (dlq.ensure_message_partition), and ids from the
-- year 2100 on, random UUIDv4s among them, live in one last partition.

-- The smallest UUID whose time is p_time: a bound for ranges of ids.
create function dlq.uuid_floor(p_time timestamptz) returns uuid
language sql immutable strict parallel safe
as $$
    select (lpad(to_hex(greatest(0, extract(epoch from p_time) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- A UUIDv7 of this moment (RFC 9562, section 5.7), for rows that applications insert themselves.
create function dlq.new_message_id() returns uuid
language sql volatile parallel safe
as $$
    select encode(
        -- A v4 UUID becomes a v7 one: 48 bits of milliseconds in front, version bits 0100 to 0111.
        set_bit(set_bit(
            overlay(uuid_send(gen_random_uuid())
                placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3)
                from 1 for 6),
            52, 1), 53, 1),
        'hex')::uuid
$$;

create table dlq.dlq_messages (
    id                    uuid         not null default dlq.new_message_id(),
    original_topic        varchar(255) not null,
    error_message         text         not null,
    retry_count           int          not null default 0,
    max_retries           int          not null default 3,
    payload               jsonb,
    status                varchar(50)  not null default 'PENDING',
    created_at            timestamptz  not null default now(),
    updated_at            timestamptz  not null default now(),
    last_retry_at         timestamptz,

    -- Where the dead letter was read.
    dlq_cluster           text,
    dlq_topic             text,
    dlq_partition         int,
    dlq_offset            bigint,

    -- Where the record that failed stood, and how we know.
    original_partition    int,
    original_offset       bigint,
    original_timestamp    timestamptz,
    original_topic_source text,
    consumer_group        text,

    -- The record itself, byte for byte; this is what is republished.
    record_key            bytea,
    record_value          bytea,
    record_headers        json,
    record_timestamp      timestamptz,
    -- Who set it: the producer (create) or the broker (append).
    record_timestamp_type text,
    record_source         text         not null default 'dlq',

    error_class           text,
    error_stacktrace      text,
    group_id              uuid,

    -- When it is retried next (null: only when somebody asks), and who holds it now.
    next_retry_at         timestamptz,
    lease_token           uuid,
    lease_until           timestamptz,
    lease_slot            int,
    lease_batch           bigint,
    -- A hash of the key, where the policy's ordering is "per-key": whom this message may have to wait for.
    order_key             bigint,
    -- Somebody asked for the next attempt: a pause of its error group does not hold it up.
    retry_requested       boolean      not null default false,

    failure_count         int          not null default 1,
    first_failed_at       timestamptz  not null default now(),
    last_failed_at        timestamptz  not null default now(),
    run_id                uuid,
    successor_of          uuid,

    -- Where to send it instead of the original topic, because somebody said so; goes before the policy's redirect.
    target_topic          text,
    -- How often it was edited; 0: it is as it came.
    edits                 int          not null default 0,

    constraint dlq_messages_pkey primary key (id),
    constraint chk_dlq_messages_status check (status in ('PENDING', 'RETRYING', 'RESOLVED', 'DEAD')),
    constraint chk_dlq_messages_original_topic_source check (original_topic_source in ('header', 'mapping', 'guessed', 'caller')),
    constraint chk_dlq_messages_record_timestamp_type check (record_timestamp_type in ('create', 'append')),
    constraint chk_dlq_messages_record_source check (record_source in ('dlq', 'origin'))
) partition by range (id);

-- lz4, where the server was built with it, as most packages are: storing a dead letter takes PostgreSQL a third
-- less CPU than with pglz, at the same size (infra/docs/decisions/011-what-a-stored-row-costs.md).
do $$
begin
    alter table dlq.dlq_messages
        alter payload          set compression lz4,
        alter record_key       set compression lz4,
        alter record_value     set compression lz4,
        alter record_headers   set compression lz4,
        alter error_message    set compression lz4,
        alter error_stacktrace set compression lz4;
exception
    when feature_not_supported then null;
end;
$$;

-- Lists of one topic, with or without a status, newest first: the four statuses are merged, so that the few
-- PENDING among millions of RESOLVED are found at once, for no more entries per row than without the status.
create index idx_dlq_messages_original_topic on dlq.dlq_messages (original_topic, status, id);
create index idx_dlq_messages_dlq_topic on dlq.dlq_messages (dlq_topic, status, id);
-- Lists of one status, newest first.
create index idx_dlq_messages_status on dlq.dlq_messages (status, id);
-- Ranges of time, as the specification asks.
create index idx_dlq_messages_created_at on dlq.dlq_messages (created_at);
-- The retrier's claim: oldest due first within a topic.
create index idx_dlq_messages_due on dlq.dlq_messages (original_topic, next_retry_at, id)
    where status = 'PENDING' and next_retry_at is not null;
-- The sweep of expired leases of programs that claim by SQL; what retriers hold, they hold by their slot.
create index idx_dlq_messages_lease on dlq.dlq_messages (lease_until) where lease_until is not null;

create trigger trg_dlq_messages_updated_at
    before update on dlq.dlq_messages
    for each row
    execute function dlq.update_updated_at();

-- Makes the partition p_name of p_table for the keys from p_from to before p_to, unless it is there. Returns true if it made one.
-- A table made first and attached then takes only a SHARE UPDATE EXCLUSIVE lock on the parent,
-- so reading and writing go on meanwhile; "create table … partition of" would stop them.
create function dlq.add_partition(p_table text, p_name text, p_from text, p_to text) returns boolean
language plpgsql
set lock_timeout = '1s'
as $$
declare
    v_trigger text;
begin
    if to_regclass('dlq.' || p_name) is not null then
        return false;
    end if;
    -- One maker at a time; whoever waited finds the partition made.
    perform pg_advisory_xact_lock(hashtextextended('dlq.add_partition ' || p_table, 0));
    -- Asked of the table itself: to_regclass may answer from this session's cache, which knows nothing of the wait.
    if exists (select from pg_class where relnamespace = 'dlq'::regnamespace and relname = p_name) then
        return false;
    end if;
    execute format('create table dlq.%I (like dlq.%I including all)', p_name, p_table);
    -- Attaching gives it the triggers of rows. Those of statements it needs for statements that name it.
    for v_trigger in
        select replace(pg_get_triggerdef(oid), format(' ON dlq.%I ', p_table), format(' ON dlq.%I ', p_name))
        from pg_trigger where tgrelid = format('dlq.%I', p_table)::regclass and not tgisinternal and tgtype & 1 = 0
    loop
        execute v_trigger;
    end loop;
    execute format('alter table dlq.%I attach partition dlq.%I for values from (%L) to (%L)', p_table, p_name, p_from, p_to);
    return true;
end;
$$;

-- Makes the partition of the month that p_time lies in, unless it is there. Returns true if it made one.
create function dlq.create_message_partition(p_time timestamptz) returns boolean
language plpgsql
as $$
declare
    v_month timestamp := date_trunc('month', p_time at time zone 'UTC');
    v_first uuid;
begin
    -- Months that the first or the last partition holds have none of their own.
    select substring(pg_get_expr(relpartbound, oid) from 'TO \(''(.+)''\)')::uuid into v_first
    from pg_class where oid = to_regclass('dlq.dlq_messages_first');
    if p_time >= '2100-01-01 00:00:00+00' or dlq.uuid_floor(p_time) < v_first then
        return false;
    end if;
    return dlq.add_partition('dlq_messages', 'dlq_messages_' || to_char(v_month, 'YYYY_MM'),
        dlq.uuid_floor(v_month at time zone 'UTC')::text,
        dlq.uuid_floor((v_month + interval '1 month') at time zone 'UTC')::text);
end;
$$;

-- Makes the partitions from p_now's month to p_months_ahead months later. Returns how many it made.
create function dlq.create_message_partitions(p_months_ahead int default 3, p_now timestamptz default now()) returns int
language plpgsql
as $$
declare
    v_made int := 0;
begin
    for v_month in 0 .. p_months_ahead loop
        v_made := v_made + dlq.create_message_partition(p_now + make_interval(months => v_month))::int;
    end loop;
    return v_made;
end;
$$;

-- Makes the partition that p_id belongs to, for records whose timestamp lies beyond the months made ahead.
create function dlq.ensure_message_partition(p_id uuid) returns boolean
language sql
as $$
    select dlq.create_message_partition(
        to_timestamp(('x' || lpad(left(replace(p_id::text, '-', ''), 12), 16, '0'))::bit(64)::bigint / 1000.0))
$$;

-- Everything before this month; the months from now on; everything from 2100 on.
do $$
begin
    execute format('create table dlq.dlq_messages_first partition of dlq.dlq_messages for values from (minvalue) to (%L)',
        dlq.uuid_floor(date_trunc('month', now(), 'UTC')));
    execute format('create table dlq.dlq_messages_last partition of dlq.dlq_messages for values from (%L) to (maxvalue)',
        dlq.uuid_floor('2100-01-01 00:00:00+00'));
    perform dlq.create_message_partitions();
end;
$$;
