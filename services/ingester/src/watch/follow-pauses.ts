// Stops reading the DLQ topics whose ingestion somebody has paused, and goes on when the pause is over. Their positions
// stay, so nothing is lost but what Kafka's retention deletes meanwhile.

import { listPausedIngestion } from 'dlq-core/queries/retry/topic-pauses.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import { runLoop } from 'dlq-core/runtime/run-loop.ts'
import type { Consumer } from 'kafkajs'

type FollowDeps = {
  sql: Database
  log: Log
  consumer: Pick<Consumer, 'pause' | 'resume' | 'on' | 'events'>
  topics: readonly string[]
}

export type PausedTopics = { has(topic: string): boolean; stop(): Promise<void> }

const lookEveryMs = 500

/** Call it before the consumer runs. Looks until it is stopped; the first look is made before it returns. */
export async function followPauses({ sql, log, consumer, topics }: FollowDeps): Promise<PausedTopics> {
  const ended = new AbortController()
  let paused: ReadonlySet<string> = new Set()

  function tell(change: 'pause' | 'resume', topics: readonly string[]): void {
    try {
      consumer[change](topics.map((topic) => ({ topic })))
    } catch (error) {
      // It does not run yet, or starts again after a crash: it is told when it has joined its group.
      log.debug({ error }, 'pauses_untold')
    }
  }
  // After a crash kafkajs starts with nothing paused.
  consumer.on(consumer.events.GROUP_JOIN, () => tell('pause', [...paused]))

  async function look(): Promise<{ more: false }> {
    const found = new Set((await listPausedIngestion(sql)).filter((topic) => topics.includes(topic)))
    if (ended.signal.aborted) return { more: false }
    const before = paused
    paused = found
    const begun = [...found].filter((topic) => !before.has(topic))
    const over = [...before].filter((topic) => !found.has(topic))
    if (begun.length > 0) {
      tell('pause', begun)
      log.info({ topics: begun }, 'ingestion_paused')
    }
    if (over.length > 0) {
      tell('resume', over)
      log.info({ topics: over }, 'ingestion_resumed')
    }
    return { more: false }
  }

  await look().catch((error) => log.info({ error }, 'pauses_unknown'))
  const looking = runLoop(look, { name: 'pauses', intervalMs: lookEveryMs, signal: ended.signal, log })
  return {
    has: (topic) => paused.has(topic),
    async stop() {
      ended.abort()
      await looking
    },
  }
}
