-- A message that is not RETRYING is held by nobody. SQL by hand that settles one, as the specification's own does, names no
-- lease. The slot then held the message for ever: retriers took the slot over again and again, and `max_in_flight` counted it.

-- After this time others go on, and the migration is run again.
set local lock_timeout = '800ms';

create function dlq.end_lease() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    new.lease_token := null;
    new.lease_until := null;
    new.lease_slot := null;
    new.lease_batch := null;
    return new;
end;
$$;

-- Services end the lease themselves, so for their statements it costs the condition and no call.
create trigger trg_dlq_messages_lease
    before update of status on dlq.dlq_messages
    for each row
    when (new.status <> 'RETRYING' and (new.lease_slot is not null or new.lease_until is not null))
    execute function dlq.end_lease();

-- What is held already, along the indexes of leases: a partition that was never analyzed would be read as a whole.
set local enable_seqscan = off;
update dlq.dlq_messages set status = status
where (lease_slot is not null or lease_until is not null) and status <> 'RETRYING';
set local enable_seqscan = on;

select dlq.apply_grants();
