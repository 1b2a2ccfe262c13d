// What Kafka refuses: which ACL is missing, and one question about many topics or groups, although Kafka refuses all of
// it because of one.

import kafkajs from 'kafkajs'
import type { Log } from '../log.ts'

/**
 * Asks for all names (of topics or groups) at once; where Kafka refuses (one of them was deleted, or is forbidden), for
 * halves of them, and leaves out the one it refuses alone.
 */
export async function askTogether<T>(
  names: readonly string[],
  ask: (names: readonly string[]) => Promise<T[]>,
  log: Log,
): Promise<T[]> {
  if (names.length === 0) return []
  try {
    return await ask(names)
  } catch (error) {
    if (!(error instanceof kafkajs.KafkaJSProtocolError)) throw error
    if (names.length === 1) {
      log.debug({ name: names[0], error }, 'look_failed')
      return []
    }
  }
  const middle = names.length >> 1
  return [
    ...(await askTogether(names.slice(0, middle), ask, log)),
    ...(await askTogether(names.slice(middle), ask, log)),
  ]
}

type Wrapping = { type?: string; originalError?: unknown }

/** The protocol's name of the refusal, through kafkajs's wrappers. */
export function refusalOf(error: unknown): 'GROUP_AUTHORIZATION_FAILED' | 'TOPIC_AUTHORIZATION_FAILED' | null {
  for (let inner = error, depth = 0; inner instanceof Error && depth < 5; depth += 1) {
    const { name, type, cause, originalError } = inner as Error & Wrapping
    if (type === 'GROUP_AUTHORIZATION_FAILED' || name === 'KafkaJSGroupCoordinatorNotFound')
      return 'GROUP_AUTHORIZATION_FAILED'
    if (type === 'TOPIC_AUTHORIZATION_FAILED') return type
    inner = originalError ?? cause
  }
  return null
}
