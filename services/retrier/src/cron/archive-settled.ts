// Moves RESOLVED and DEAD messages into the archive after their policy's retention. Topic by topic, in batches that are
// transactions of their own, each beginning where the last one ended. Stopped or killed, it loses nothing
// but its place: what it moved is gone from the way.

import type { MessageTopics } from 'dlq-core/effective-policy.ts'
import { archiveMessages, listSettled, nextSettledTopic, type SettledCursor } from 'dlq-core/queries/archive.ts'
import { listDlqTopics } from 'dlq-core/queries/topics.ts'
import type { RetryPolicy } from 'dlq-core/retry-policy.ts'
import type { Database } from 'dlq-core/runtime/database.ts'
import type { CronContext } from './cron-job.ts'

export type ArchiveDeps = {
  sql: Database
  policyOf: (topics: MessageTopics) => Pick<RetryPolicy, 'retentionMs'>
}

/** What a batch should take, so that nobody waits for long for a message that it holds. */
const targetMs = 250
const batchBounds = { least: 50, most: 2000 }

/** @throws the signal's reason when it aborts between two batches */
export async function archiveSettled(deps: ArchiveDeps, { now, signal }: CronContext): Promise<{ archived: number }> {
  const dlqTopics = await listDlqTopics(deps.sql)
  const pace = { batch: 500 }
  let archived = 0
  let topic = await nextSettledTopic(deps.sql, null)
  while (topic !== null) {
    archived += await archiveTopic(deps, { topic, dlqTopics, pace, now, signal })
    topic = await nextSettledTopic(deps.sql, topic)
  }
  return { archived }
}

type Walk = CronContext & { topic: string; dlqTopics: readonly string[]; pace: { batch: number } }

async function archiveTopic({ sql, policyOf }: ArchiveDeps, { topic, dlqTopics, pace, now, signal }: Walk) {
  const retentionOf = (dlqTopic: string | null) => policyOf({ originalTopic: topic, dlqTopic }).retentionMs
  // A pattern may name the DLQ topic only, so messages of one original topic may differ.
  const shortest = Math.min(...[null, ...dlqTopics].map(retentionOf))
  const before = new Date(now.getTime() - shortest)
  let archived = 0
  for (let after: SettledCursor | null = null; ; ) {
    signal.throwIfAborted()
    const startedAt = performance.now()
    const settled = await listSettled(sql, { topic, before, after, limit: pace.batch })
    const last = settled.at(-1)
    if (last === undefined) return archived
    const expired = settled.filter(({ dlq_topic, since }) => since.getTime() < now.getTime() - retentionOf(dlq_topic))
    archived += await archiveMessages(sql, { ids: expired.map(({ id }) => id), before, now })
    after = last
    const ms = performance.now() - startedAt
    const batch = Math.round(pace.batch * Math.min(2, targetMs / Math.max(ms, 1)))
    pace.batch = Math.max(batchBounds.least, Math.min(batchBounds.most, batch))
  }
}
