// The topics that have messages to claim. They are looked up for all slots of the process together, and remembered
// for a moment, because looking costs more the more topics and partitions there are.

import { type DueTopic, listDueTopics } from 'dlq-core/queries/retry/due-topics.ts'
import { listRunTopics, type RunTopic } from 'dlq-core/queries/runs/run-messages.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'

/** A topic with messages to claim: those due by themselves, or those that a run holds. */
export type Claimable = Pick<DueTopic, 'original_topic' | 'dlq_topic'> &
  Partial<Pick<RunTopic, 'run' | 'target_topic' | 'rate_per_second' | 'max_lag'>>

export type DueTopics = {
  current(): Promise<readonly Claimable[]>
  /** The next call looks again. */
  forget(): void
}

/** A look is followed by a rest of this many times its own duration, so that looking stays a small part of the work. */
const restFactor = 5
const longestRestMs = 2000

/** The due topics of at most `maxAgeMs` ago, or older where there are many and the look takes long. */
export function createDueTopics(sql: Database, { maxAgeMs = 150, now = Date.now } = {}): DueTopics {
  let known: { topics: readonly Claimable[]; until: number } | null = null
  let looking: Promise<readonly Claimable[]> | null = null

  async function look(): Promise<readonly Claimable[]> {
    const at = now()
    const [due, ofRuns] = await Promise.all([listDueTopics(sql), listRunTopics(sql)])
    const topics = [...due, ...ofRuns]
    const restMs = Math.max(maxAgeMs, Math.min((now() - at) * restFactor, longestRestMs))
    known = { topics, until: maxAgeMs === 0 ? 0 : at + restMs }
    return topics
  }

  return {
    async current() {
      if (known !== null && now() < known.until) return known.topics
      looking ??= look().finally(() => {
        looking = null
      })
      return looking
    },
    forget() {
      known = null
    },
  }
}
