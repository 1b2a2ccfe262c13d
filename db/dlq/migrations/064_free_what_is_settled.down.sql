-- Loses nothing.

set local lock_timeout = '800ms';

drop trigger trg_dlq_messages_lease on dlq.dlq_messages;
drop function dlq.end_lease();
