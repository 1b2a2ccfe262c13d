// Consumers that say that the work of a retry is done. It is said of an attempt, in dlq_attempts.

import type { Sql } from '../sql.ts'
import { messageInScope, type TopicScope } from '../topic-scope.ts'

export type Confirmed = {
  confirmed_at: Date
  confirmed_by: string
  original_topic: string
  dlq_topic: string | null
  /** Not confirmed before. */
  is_new: boolean
}

/**
 * Confirms an attempt that was published, or is just being published: a fast consumer may be done before the retrier has
 * stored where the record went. The first confirmation stays. Null where there is no such attempt in the scope.
 */
export async function confirmAttempt(
  sql: Sql,
  {
    messageId,
    number,
    attemptId,
    actor,
    scope,
  }: { messageId: string; number: number; attemptId: string; actor: string; scope: TopicScope },
): Promise<Confirmed | null> {
  const [row] = await sql<Confirmed[]>`
    with message as materialized (
      select id, original_topic, dlq_topic, status, retry_count from dlq.dlq_messages
      where id = ${messageId} and ${messageInScope(sql, scope)}
    ),
    before as materialized (
      select a.confirmed_at from dlq.dlq_attempts a join message m on m.id = a.message_id
      where a.number = ${number} and a.attempt_id = ${attemptId} and a.outcome in ('requested', 'published', 'unknown')
    ),
    confirmed as (
      insert into dlq.dlq_attempts as known (message_id, number, attempt_id, outcome, confirmed_at, confirmed_by)
      select m.id, ${number}, ${attemptId}::uuid, 'requested', now(), ${actor} from message m
      where exists (select from before) or (m.status = 'RETRYING' and m.retry_count = ${number})
      on conflict (message_id, number) do update set
        confirmed_at = coalesce(known.confirmed_at, excluded.confirmed_at),
        confirmed_by = coalesce(known.confirmed_by, excluded.confirmed_by)
      returning known.confirmed_at, known.confirmed_by
    )
    select c.confirmed_at, c.confirmed_by, m.original_topic, m.dlq_topic,
           not exists (select from before where before.confirmed_at is not null) as is_new
    from confirmed c cross join message m`
  return row ?? null
}
