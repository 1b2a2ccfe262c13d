// The topics that have messages to claim. They are looked up for all slots of the process together, and remembered
// for a moment, because looking costs more the more topics and partitions there are. A topic that gave a claim all that it
// asked for is taken to have more, and is not looked at: while a backlog is sent, that is where a look takes longest.

import { type DueTopic, listDueTopics } from 'dlq-core/queries/retry/due-topics.ts'
import { listRunTopics, type RunTopic } from 'dlq-core/queries/runs/run-messages.ts'
import { monotonicNow } from 'dlq-core/runtime/clock/monotonic-now.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'

/** A topic with messages to claim: those due by themselves, or those that a run holds. */
export type Claimable = Pick<DueTopic, 'original_topic' | 'dlq_topic'> &
  Partial<Pick<RunTopic, 'run' | 'target_topic' | 'rate_per_second' | 'max_lag'>>

export type DueTopics = {
  current(): Promise<readonly Claimable[]>
  /** Takes what a claim found: topic → whether it gave all that was asked of it. */
  learn(filled: ReadonlyMap<string, boolean>): void
  /** The next call looks again. */
  forget(): void
}

/** A look is followed by a rest of this many times its own duration, so that looking stays a small part of the work. */
const restFactor = 5
const longestRestMs = 2000
/** All topics are looked at this often: also for the DLQ topic of what is due now, which may have another policy. */
const passOverMs = 2000

/** The due topics of at most `maxAgeMs` ago, or older where there are many and the look takes long. */
export function createDueTopics(sql: Database, { maxAgeMs = 150, now = monotonicNow } = {}): DueTopics {
  let topics: readonly Claimable[] = []
  let until = Number.NEGATIVE_INFINITY
  let looking: Promise<void> | null = null
  /** When a look last saw all topics. */
  let sawAllAt = Number.NEGATIVE_INFINITY
  /** Topics that filled their share of the last claim. */
  const filled = new Set<string>()

  async function look(): Promise<void> {
    const at = now()
    const isKnown = ({ run, original_topic }: Claimable) => run === undefined && filled.has(original_topic)
    const passed = at - sawAllAt < passOverMs ? topics.filter(isKnown) : []
    const known = passed.map(({ original_topic }) => original_topic)
    const [found, ofRuns] = await Promise.all([listDueTopics(sql, known), listRunTopics(sql)])
    if (known.length === 0) sawAllAt = at
    const due = [...passed, ...found].sort((a, b) => (a.original_topic < b.original_topic ? -1 : 1))
    topics = [...due, ...ofRuns]
    until = maxAgeMs === 0 ? 0 : at + Math.max(maxAgeMs, Math.min((now() - at) * restFactor, longestRestMs))
  }

  return {
    async current() {
      if (now() >= until) {
        looking ??= look().finally(() => {
          looking = null
        })
        await looking
      }
      return topics
    },
    learn(outcomes) {
      for (const [topic, isFilled] of outcomes) {
        if (isFilled) filled.add(topic)
        else filled.delete(topic)
      }
    },
    forget() {
      until = Number.NEGATIVE_INFINITY
    },
  }
}
