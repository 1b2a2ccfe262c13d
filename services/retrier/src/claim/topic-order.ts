// Before the messages of a topic are claimed in the order of their keys, those that came in while its
// policy did not ask for it get their order keys. Twice: an ingester may still follow the old policy
// for a moment after a retrier has seen the new one.

import { assignOrderKeys } from 'dlq-core/queries/order-keys.ts'
import type { Database } from 'dlq-core/runtime/database.ts'

export type TopicOrder = {
  /** Whether the topic may be claimed from; where not yet, the passes see to it. */
  isReady(topic: string): boolean
  /** The topic's order is not asked for any more. */
  forget(topic: string): void
  /** One chunk of one topic. */
  pass(): Promise<{ more: boolean }>
}

type Progress = { afterId: string; walks: number; notBefore: number }

const chunkSize = 2000
const smallestId = '00000000-0000-0000-0000-000000000000'
/** Longer than policies take to reach every ingester. */
const secondWalkAfterMs = 5000

export function createTopicOrder(sql: Database, { now = Date.now } = {}): TopicOrder {
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
      const next = [...topics].find(([, { walks, notBefore }]) => walks < 2 && notBefore <= now())
      if (next === undefined) return { more: false }
      const [topic, progress] = next
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
