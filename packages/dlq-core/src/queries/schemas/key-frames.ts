// Keys that begin with a zero byte, as frames of registries do: one for each schema that keys have.

import type { Sql } from '../sql.ts'

/** Confluent's and Apicurio's id of four bytes; one of eight has zeros there. */
const idEnd = 5
const longIdEnd = 9

/**
 * One whole key of live messages for each frame, at most `limit`. Each is a step along idx_dlq_messages_record_key, which
 * no other key is in the way of.
 */
export async function listKeyFrames(sql: Sql, { limit }: { limit: number }): Promise<Buffer[]> {
  const found: Buffer[] = []
  for (let from: Buffer | null = Buffer.from([0]); from !== null && found.length < limit; ) {
    const [row]: { record_key: Buffer }[] = await sql<{ record_key: Buffer }[]>`
      select record_key from dlq.dlq_messages m
      where record_key is not null and substring(record_key from 1 for 64) >= ${from}
        and substring(record_key from 1 for 64) < '\\x01'
      order by substring(record_key from 1 for 64), id
      limit 1`
    if (row === undefined) break
    if (row.record_key.length > idEnd) found.push(row.record_key)
    from = behind(row.record_key)
  }
  return found
}

/** Topics and stored headers of the newest live messages with a key, at most `limit`. */
export async function listNewestKeyHeaders(
  sql: Sql,
  { limit }: { limit: number },
): Promise<{ original_topic: string; dlq_topic: string | null; record_headers: string | null }[]> {
  return sql<{ original_topic: string; dlq_topic: string | null; record_headers: string | null }[]>`
    select original_topic, dlq_topic, case when record_key is not null then record_headers end as record_headers
    from dlq.dlq_messages
    order by created_at desc
    limit ${limit}`
}

/** The first bytes that another frame can begin with; null where there are none. */
function behind(key: Buffer): Buffer | null {
  const isLong = key.length >= longIdEnd && key.readInt32BE(1) === 0
  const frame = Buffer.alloc(isLong ? longIdEnd : idEnd)
  key.copy(frame)
  for (let at = frame.length - 1; at > 0; at -= 1) {
    frame[at]! += 1
    if (frame[at] !== 0) return frame
  }
  return null
}
