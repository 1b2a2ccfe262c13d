-- Loses nothing.
set local lock_timeout = '5s';

drop index if exists dlq.idx_dlq_messages_decode_waiting;
