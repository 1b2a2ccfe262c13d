// Marks every message of a topic due that may be retried, in chunks along the ids, each its own
// transaction. What comes in meanwhile was not asked for and is left alone.

import { writeAudit } from 'dlq-core/queries/audit.ts'
import { greatestMessageId, requestRetryOfTopic, type TopicColumn } from 'dlq-core/queries/message-retry.ts'
import type { TopicScope } from 'dlq-core/queries/topic-scope.ts'
import type { Database } from 'dlq-core/runtime/database.ts'

const chunkSize = 1000
const smallestId = '00000000-0000-0000-0000-000000000000'

export type RetryTopicRequest = {
  column: TopicColumn
  topic: string
  scope: TopicScope
  by: { actor: string; role: string; request_id: string }
  wakeRetriers: () => void
}

/** Returns how many messages were marked. */
export async function retryTopic(
  sql: Database,
  { column, topic, scope, by, wakeRetriers }: RetryTopicRequest,
): Promise<number> {
  const untilId = await greatestMessageId(sql)
  if (untilId === null) return 0
  let marked = 0
  for (let afterId: string | null = smallestId; afterId !== null; ) {
    const chunk: { lastId: string | null; marked: number } = await sql.begin(async (sql) => {
      const chunk = await requestRetryOfTopic(sql, {
        column,
        topic,
        scope,
        afterId: afterId!,
        untilId,
        limit: chunkSize,
      })
      // One entry per chunk, with it: what was marked before a crash is told of.
      const target = { action: 'topic.retry', target_type: 'topic', target_id: topic, [column]: topic }
      if (chunk.marked > 0) await writeAudit(sql, { ...by, ...target, after: { marked: chunk.marked } })
      return chunk
    })
    if (chunk.marked > 0) wakeRetriers()
    marked += chunk.marked
    afterId = chunk.lastId
  }
  return marked
}
