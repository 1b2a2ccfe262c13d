// One question about many topics, although Kafka refuses all of it where one of them was deleted or is forbidden.

import type { Log } from 'dlq-core/runtime/log.ts'
import kafkajs from 'kafkajs'

/**
 * Asks for all topics at once; where Kafka refuses (one of them was deleted, or is forbidden), for halves of
 * them, and leaves out the one it refuses alone.
 */
export async function askTogether<T>(
  topics: readonly string[],
  ask: (topics: readonly string[]) => Promise<T[]>,
  log: Log,
): Promise<T[]> {
  if (topics.length === 0) return []
  try {
    return await ask(topics)
  } catch (error) {
    if (!(error instanceof kafkajs.KafkaJSProtocolError)) throw error
    if (topics.length === 1) {
      log.debug({ topic: topics[0], error }, 'look_failed')
      return []
    }
  }
  const middle = topics.length >> 1
  return [
    ...(await askTogether(topics.slice(0, middle), ask, log)),
    ...(await askTogether(topics.slice(middle), ask, log)),
  ]
}
