-- Loses nothing.

set local lock_timeout = '800ms';

create or replace trigger trg_dlq_messages_stack_trace
    before update on dlq.dlq_messages
    for each row
    when (old.frames_id is not null and old.error_stacktrace is distinct from new.error_stacktrace)
    execute function dlq.keep_stack_trace();
