// Many due messages at once, without an ingester.
import type postgres from 'postgres'

/** Row n is `{"n":n}` of one topic after the other, with key and partition to keep. Due for an hour, in this order. */
export async function insertDueRows(
  sql: postgres.Sql | postgres.TransactionSql,
  {
    count,
    topics,
    partitions = 1,
    from = 0,
  }: { count: number; topics: readonly string[]; partitions?: number; from?: number },
): Promise<void> {
  await sql`
    insert into dlq.dlq_messages (
      original_topic, error_message, record_key, record_value, record_headers, original_partition, original_offset,
      original_topic_source, next_retry_at)
    select (${sql.array([...topics])}::text[])[1 + n % ${topics.length}::int], 'processing failed',
           convert_to('key ' || n, 'UTF8'), convert_to('{"n":' || n || '}', 'UTF8'), ('[["n","' || n || '"]]')::json,
           n / ${topics.length}::int % ${partitions}::int, 1000000000 + n, 'header',
           now() - interval '1 hour' + n * interval '1 us'
    from generate_series(${from}::int, ${from + count - 1}::int) n`
}
