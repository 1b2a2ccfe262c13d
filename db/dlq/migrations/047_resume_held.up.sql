-- What a policy held because the retrier might not read the original topic is due again once it is found to be fresh.

set local lock_timeout = '5s';

alter table dlq.dlq_staleness
    -- When a retry that was due by itself was held; updated_at of the message says the same while nobody has changed it.
    add column held_at timestamptz;
