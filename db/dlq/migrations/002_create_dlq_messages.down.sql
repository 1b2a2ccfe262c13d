-- Loses every dead letter that is not archived.
drop trigger if exists trg_dlq_messages_updated_at on dlq.dlq_messages;
drop table if exists dlq.dlq_messages;
drop function if exists dlq.ensure_message_partition(uuid);
drop function if exists dlq.create_message_partitions(int, timestamptz);
drop function if exists dlq.create_message_partition(timestamptz);
drop function if exists dlq.add_partition(text, text, text, text);
drop function if exists dlq.new_message_id();
drop function if exists dlq.uuid_floor(timestamptz);
