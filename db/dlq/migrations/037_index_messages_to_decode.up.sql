-- no-transaction
-- What the job "decode" fills in once the schema has come (028).

create index concurrently idx_dlq_messages_decode_waiting on dlq.dlq_messages (value_schema, id) where decode_state = 2;
