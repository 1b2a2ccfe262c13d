// Tells that pauses of topics have ended by themselves. Claims have ignored them from their time on; this removes them.

import { notifyDue } from 'dlq-core/queries/retry/due-topics.ts'
import { forgetEndedPauses } from 'dlq-core/queries/retry/topic-pauses.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import type { Log } from 'dlq-core/runtime/log.ts'

export async function endTopicPauses({ sql, log }: { sql: Database; log: Log }): Promise<{ more: false }> {
  const ended = await forgetEndedPauses(sql)
  for (const { topic, what } of ended) log.info({ topic, what }, 'topic_pause_ended')
  if (ended.length > 0) await notifyDue(sql)
  return { more: false }
}
