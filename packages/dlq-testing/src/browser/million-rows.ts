// Very many messages of one topic, made within the database: a row costs a few microseconds there.

import type postgres from 'postgres'

const rowsPerInsert = 100_000

/** Spread over the last 20 days, most of them sent, one in ten waiting, one in twenty DEAD. */
export async function storeMillionRows(
  sql: postgres.Sql,
  { total, topic }: { total: number; topic: string },
): Promise<void> {
  await sql`select dlq.create_message_partition(now() - m * interval '1 month') from generate_series(0, 1) m`
  for (let from = 0; from < total; from += rowsPerInsert) {
    await sql`
      insert into dlq.dlq_messages (
        id, original_topic, error_message, error_class, status, created_at, record_timestamp, record_key, record_value,
        record_headers, next_retry_at)
      select
        -- Ids in the order of time, as records have them.
        (substr(dlq.uuid_floor(at)::text, 1, 14) || '7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid,
        ${topic}, 'stock of item ' || n % 9973 || ' is 0, wanted ' || n % 90, 'com.example.OutOfStock',
        case when n % 10 = 3 then 'PENDING' when n % 20 = 5 then 'DEAD' else 'RESOLVED' end,
        at, at, convert_to('customer-' || n % 300000, 'UTF8'),
        convert_to('{"order_id":"' || n || '","note":"' || repeat('x', 100) || '"}', 'UTF8'), '[]', null
      from (
        select n, now() - (${total}::int - n) * (interval '20 days' / ${total}::int) as at
        from generate_series(${from}::int, ${Math.min(total, from + rowsPerInsert) - 1}::int) n
      ) rows`
  }
  // Retriers fold as well, and only one at a time does.
  while (await hasDeltas(sql)) await sql`select dlq.fold_summary(100000)`
  await sql`vacuum analyze dlq.dlq_messages`
}

async function hasDeltas(sql: postgres.Sql): Promise<boolean> {
  const [row] = await sql<[{ has: boolean }]>`select exists (select from dlq.dlq_summary_deltas) as has`
  return row.has
}
