// Claims due messages as a retrier does, for tests of the steps before and after.
import { randomUUID } from 'node:crypto'
import { type BatchLease, type ClaimedMessage, claimBatch } from 'dlq-core/queries/retry/batches.ts'
import { listDueTopics } from 'dlq-core/queries/retry/due-topics.ts'
import { takeSlot } from 'dlq-core/queries/retry/slots.ts'
import { listRunTopics, type RunTopic } from 'dlq-core/queries/runs/run-messages.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'

export type ClaimedBatch = BatchLease & { token: string; messages: ClaimedMessage[] }

/** Takes a slot and claims due messages, at most `quota` of each topic. */
export async function claimDue(sql: Database, { quota = 100 } = {}): Promise<ClaimedBatch> {
  const { slot, epoch } = await takeSlot(sql, { owner: 'test', leaseMs: 60_000 })
  const token = randomUUID()
  const topics: (Pick<RunTopic, 'original_topic'> & { run?: string })[] = [
    ...(await listDueTopics(sql)),
    ...(await listRunTopics(sql)),
  ]
  const shares = topics.map(({ original_topic: topic, run }) => ({
    topic,
    ...(run && { run }),
    quota,
    maxInFlight: null,
    ordered: false,
    pausedGroups: [],
  }))
  const claimed = await claimBatch(sql, { slot, epoch, token, shares, maxBytes: 100_000_000 })
  return { slot, epoch, token, batch: claimed?.batch ?? 0n, messages: claimed?.messages ?? [] }
}
