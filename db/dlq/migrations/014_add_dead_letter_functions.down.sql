-- Applications can dead-letter and pull no more; what they have stored stays.
drop function if exists dlq.end_pass(text, text, interval);
drop function if exists dlq.extend_pass(text, text, interval);
drop function if exists dlq.begin_pass(text, text, interval);
drop function if exists dlq.extend_leases(uuid[], uuid, interval);
drop function if exists dlq.release_messages(uuid[], uuid);
drop function if exists dlq.fail_message(uuid, uuid, text, text, text, interval);
drop function if exists dlq.resolve_messages(uuid[], uuid);
drop function if exists dlq.claim_messages(text, int, interval, int);
drop function if exists dlq.expire_leases(text, int);
drop function if exists dlq.dead_letter(text, jsonb, text, text, text, bytea, text, jsonb, text, interval, int);
drop function if exists dlq.require(boolean, text);
drop function if exists dlq.attempt_id(uuid, int);
drop function if exists dlq.next_retry_at(text, int, timestamptz);
drop function if exists dlq.policy_of(text);
drop index if exists dlq.idx_dlq_messages_ungrouped;
-- As before there were roles.
grant execute on all routines in schema dlq to public;
