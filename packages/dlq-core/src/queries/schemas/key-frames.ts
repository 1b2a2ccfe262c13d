// Keys that begin with a frame, which names their schema: one for each schema that keys have.

import type { Sql } from '../sql.ts'

/** `lengthOf`: of the frame that the key begins with. */
type FrameKind = { from: string; until: string; minLength: number; lengthOf: (key: Buffer) => number }

const always = (length: number) => ({ minLength: length, lengthOf: () => length })
/** Their first bytes alone tell the first two from other keys, so they stand before those that begin with a zero. */
const frameKinds: readonly FrameKind[] = [
  // AWS Glue's, without compression: what zlib makes of a key is not known.
  { from: '0300', until: '0301', ...always(18) },
  // Avro's single object.
  { from: 'c301', until: 'c302', ...always(10) },
  // Confluent's and Apicurio's id of four bytes; one of eight has zeros there.
  {
    ...{ from: '00', until: '01', minLength: 5 },
    lengthOf: (key) => (key.length >= 9 && key.readInt32BE(1) === 0 ? 9 : 5),
  },
]

/** Keys too short for a frame, such as integers of four bytes, that one step passes over. */
const mostPassedOver = 10_000

/**
 * One whole key of live messages for each frame, at most `limit`. Each is a step along idx_dlq_messages_record_key, so
 * the cost does not grow with the number of messages.
 */
export async function listKeyFrames(sql: Sql, { limit }: { limit: number }): Promise<Buffer[]> {
  const found: Buffer[] = []
  for (const { from: first, until, minLength, lengthOf } of frameKinds) {
    for (let from: Buffer | null = Buffer.from(first, 'hex'); from !== null && found.length < limit; ) {
      const [row]: { record_key: Buffer }[] = await sql<{ record_key: Buffer }[]>`
        select record_key
        from (
          select record_key, substring(record_key from 1 for 64) as start, id from dlq.dlq_messages m
          where record_key is not null and substring(record_key from 1 for 64) >= ${from}
            and substring(record_key from 1 for 64) < ${Buffer.from(until, 'hex')}
          order by substring(record_key from 1 for 64), id
          limit ${mostPassedOver}) looked
        where octet_length(record_key) > ${minLength}
        order by start, id
        limit 1`
      if (row === undefined) break
      found.push(row.record_key)
      from = behind(row.record_key.subarray(0, lengthOf(row.record_key)))
    }
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
function behind(frame: Buffer): Buffer | null {
  const next = Buffer.from(frame)
  for (let at = next.length - 1; at > 0; at -= 1) {
    next[at]! += 1
    if (next[at] !== 0) return next
  }
  return null
}
