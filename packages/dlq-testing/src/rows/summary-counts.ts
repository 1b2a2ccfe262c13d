// Every count of the summary that is not 0, to be compared with a count of the messages.
import type { Status } from 'dlq-core/domain/retry/message-state.ts'
import { lines } from 'dlq-core/queries/reading/summary.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'

type Count = {
  dlq_topic: string | null
  original_topic: string
  consumer_group: string | null
  group_id: string | null
  status: Status
  count: number
}

export async function listCounts(sql: Sql): Promise<Count[]> {
  return sql<Count[]>`
    select dlq_topic, original_topic, consumer_group, group_id, status, sum(count)::float8 as count
    from ${lines(sql, { withGroups: true })}
    group by dlq_topic, original_topic, consumer_group, group_id, status
    having sum(count) <> 0`
}
