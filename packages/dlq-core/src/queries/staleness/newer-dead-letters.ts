// dlq_messages: dead letters of the same key that stood behind a message in its original partition. A retry of the message
// would bring an older state after a newer one.

import type { Status } from '../../domain/retry/message-state.ts'
import type { Sql } from '../sql.ts'
import { messageInScope, type TopicScope } from '../topic-scope.ts'

export type Origin = {
  id: string
  original_topic: string
  dlq_topic: string | null
  original_partition: number | null
  original_offset: bigint | null
  record_key: Buffer | null
}

export type NewerDeadLetter = {
  id: string
  status: Status
  original_offset: bigint
  original_timestamp: Date | null
  consumer_group: string | null
}

/** Of a key with more dead letters, those with the greatest ids are looked at. */
const examined = 1000

/**
 * The first `limit` of them, in the order of their offsets; none where key or place are not known. Claims of other DLQ
 * topics count only where their route is open. `seesKey`: else those that somebody has reported do not count, because
 * whoever reports one for each key that they guess would learn the message's.
 */
export async function listNewerDeadLetters(
  sql: Sql,
  { message, scope, seesKey, limit }: { message: Origin; scope: TopicScope; seesKey: boolean; limit: number },
): Promise<NewerDeadLetter[]> {
  const { id, original_topic, dlq_topic, original_partition, original_offset, record_key } = message
  if (record_key === null || original_partition === null || original_offset === null) return []
  // Along idx_dlq_messages_record_key, whose expression and order this repeats.
  return sql<NewerDeadLetter[]>`
    select id, status, original_offset, original_timestamp, consumer_group
    from (
      select id, status, original_topic, original_partition, original_offset, original_timestamp, consumer_group, record_key
      from dlq.dlq_messages
      where substring(record_key from 1 for 64) = substring(${record_key}::bytea from 1 for 64)
        and record_key is not null and ${messageInScope(sql, scope)}
        and (not held_by_route or dlq_topic is not distinct from ${dlq_topic}::text)
        and (${seesKey}::boolean or dlq_topic is not null)
      order by substring(record_key from 1 for 64) desc, id desc
      limit ${examined}
    ) of_key
    where record_key = ${record_key} and original_topic = ${original_topic} and original_partition = ${original_partition}
      and original_offset > ${original_offset} and id <> ${id}
    order by original_offset, id
    limit ${limit}`
}
