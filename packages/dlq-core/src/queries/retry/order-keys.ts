// dlq_messages.order_key of messages that came in before their topic's policy said "per-key".

import type { Sql } from './sql.ts'

/**
 * Gives the unresolved messages of the topic their order key, one chunk of `limit` messages further
 * along the ids. Returns the chunk's last id, null at the end.
 */
export async function assignOrderKeys(
  sql: Sql,
  { topic, afterId, limit }: { topic: string; afterId: string; limit: number },
): Promise<string | null> {
  const [row] = await sql<{ last_id: string | null }[]>`
    with chunk as materialized (
      select id, status, order_key is null and record_key is not null as lacks_key
      from dlq.dlq_messages
      where original_topic = ${topic} and id > ${afterId}
      order by id
      limit ${limit}
    ),
    lacking as materialized (
      -- Asked again under the lock, in the order in which everybody locks messages.
      select m.id from dlq.dlq_messages m join chunk using (id)
      where chunk.status in ('PENDING', 'RETRYING') and chunk.lacks_key and m.order_key is null
      order by m.id
      for update of m
    ),
    assigned as (
      -- The same as order-key.ts: the first eight bytes of the key's SHA-256.
      update dlq.dlq_messages m
      set order_key = ('x' || encode(substring(sha256(m.record_key) for 8), 'hex'))::bit(64)::bigint
      from lacking where m.id = lacking.id
    )
    select max(id::text)::uuid as last_id from chunk`
  return row!.last_id
}
