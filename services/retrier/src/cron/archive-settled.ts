// Moves RESOLVED and DEAD messages into the archive after their policy's retention. It walks topic by topic; each batch
// is a transaction of its own and begins where the last one ended. After a stop or a crash the next pass starts from the
// beginning, and finds only messages that were not moved yet.

import type { PolicyOf } from 'dlq-core/domain/retry/effective-policy.ts'
import { listStoredTopics } from 'dlq-core/queries/reading/message-topic.ts'
import { archiveMessages, listSettled, listSettledTopics, type SettledCursor } from 'dlq-core/queries/upkeep/archive.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import { type BatchPace, nextBatchSize } from '../batch-size.ts'
import type { CronContext } from './cron-job.ts'

export type ArchiveDeps = {
  sql: Database
  policyOf: PolicyOf
}

/** Other statements wait no longer than this for a message that a batch holds. */
const archivePace: BatchPace = { targetMs: 250, least: 50, most: 2000, growth: 2 }

/** @throws the signal's reason when it aborts between two batches */
export async function archiveSettled(deps: ArchiveDeps, { now, signal }: CronContext): Promise<{ archived: number }> {
  const dlqTopics = await listStoredTopics(deps.sql, 'dlq_topic')
  const progress = { size: 500 }
  let archived = 0
  for (const topic of await listSettledTopics(deps.sql)) {
    archived += await archiveTopic(deps, { topic, dlqTopics, progress, now, signal })
  }
  return { archived }
}

type Walk = CronContext & { topic: string; dlqTopics: readonly string[]; progress: { size: number } }

async function archiveTopic({ sql, policyOf }: ArchiveDeps, { topic, dlqTopics, progress, now, signal }: Walk) {
  const retentionOf = (dlq_topic: string | null) => policyOf({ original_topic: topic, dlq_topic }).retentionMs
  // A pattern may name the DLQ topic only, so messages of one original topic may differ.
  const shortest = Math.min(...[null, ...dlqTopics].map(retentionOf))
  const before = new Date(now.getTime() - shortest)
  let archived = 0
  for (let after: SettledCursor | null = null; ; ) {
    signal.throwIfAborted()
    const startedAt = performance.now()
    const settled = await listSettled(sql, { topic, before, after, limit: progress.size })
    const last = settled.at(-1)
    if (last === undefined) return archived
    const expired = settled.filter(({ dlq_topic, since }) => since.getTime() < now.getTime() - retentionOf(dlq_topic))
    archived += await archiveMessages(sql, { ids: expired.map(({ id }) => id), before, now })
    after = last
    const batch = { size: progress.size, found: settled.length, tookMs: performance.now() - startedAt }
    progress.size = nextBatchSize(batch, archivePace)
  }
}
