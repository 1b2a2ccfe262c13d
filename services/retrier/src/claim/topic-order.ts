// When a policy begins to ask for the order of keys, the messages that are stored already have no order key. They get
// theirs here before the topic is claimed from. Two walks are needed, because an ingester may follow the old policy
// for a moment after a retrier has seen the new one.

import { smallestId } from 'dlq-core/domain/record/message-id.ts'
import { assignOrderKeys } from 'dlq-core/queries/retry/order-keys.ts'
import { monotonicNow } from 'dlq-core/runtime/clock/monotonic-now.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'

export type TopicOrder = {
  /** Whether the topic may be claimed from. If not yet, the next passes assign its keys. */
  isReady(topic: string): boolean
  /** The topic's policy no longer asks for an order. */
  forget(topic: string): void
  /** One chunk of one topic. */
  pass(): Promise<{ more: boolean }>
}

type Progress = { afterId: string; walks: number; notBefore: number }

const chunkSize = 2000
/** Longer than a policy takes to reach every ingester. */
const secondWalkAfterMs = 5000

export function createTopicOrder(sql: Database, { now = monotonicNow } = {}): TopicOrder {
  const topics = new Map<string, Progress>()
  return {
    isReady(topic) {
      const progress = topics.get(topic)
      if (progress !== undefined) return progress.walks > 0
      topics.set(topic, { afterId: smallestId, walks: 0, notBefore: 0 })
      return false
    },
    forget(topic) {
      topics.delete(topic)
    },
    async pass() {
      // A topic waits for its first walk only.
      const next = [...topics]
        .filter(([, { walks, notBefore }]) => walks < 2 && notBefore <= now())
        .toSorted(([, a], [, b]) => a.walks - b.walks)[0]
      if (next === undefined) return { more: false }
      const [topic, progress] = next
      // In turns, so that a topic waits neither for the whole walk of a larger one nor for one that fails.
      topics.delete(topic)
      topics.set(topic, progress)
      const lastId = await assignOrderKeys(sql, { topic, afterId: progress.afterId, limit: chunkSize })
      if (lastId !== null) progress.afterId = lastId
      else
        Object.assign(progress, {
          afterId: smallestId,
          walks: progress.walks + 1,
          notBefore: now() + secondWalkAfterMs,
        })
      return { more: true }
    },
  }
}
