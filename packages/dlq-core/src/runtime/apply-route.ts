// Makes the messages of a route follow its state: what waited is scheduled once it is open, what was scheduled is held
// once it is blocked. In chunks, each in a transaction of its own, so that nobody waits for many rows.

import { replayHazard } from '../domain/failure/topic-names.ts'
import { isOpen, type Route, type RouteState } from '../domain/failure/topic-routes.ts'
import { smallestId } from '../domain/record/message-id.ts'
import type { PolicyOf } from '../domain/retry/effective-policy.ts'
import { nextRetryAt } from '../domain/retry/retry-policy.ts'
import { holdMessages, letMessagesGo, noteApplied } from '../queries/routes/routes.ts'
import type { Database } from './database/database.ts'

export type ApplyRouteDeps = {
  sql: Database
  policyOf: PolicyOf
  dlqPatterns: readonly string[]
  now: () => Date
  random: () => number
}

const chunkSize = 500

/** What is under way is held when it is given back. Twice, because a message may be claimed between two walks. */
const walks = ['RETRYING', 'PENDING', 'RETRYING', 'DEAD'] as const

/**
 * Changes at most `maxChunks` chunks, and ends early where the signal aborts. Nothing follows a state that is not the
 * route's any more. Returns how many messages it changed.
 */
export async function applyRoute(
  { sql, policyOf, dlqPatterns, now, random }: ApplyRouteDeps,
  { dlq_topic, original_topic, state }: Route & { state: RouteState },
  { maxChunks, signal }: { maxChunks: number; signal: AbortSignal },
): Promise<{ changed: number; isDone: boolean }> {
  const route = { dlq_topic, original_topic, state }
  const hazard = replayHazard(original_topic, { source: 'header', dlqPatterns, partition: null })
  const dueAt = () => (hazard === null ? nextRetryAt(policyOf(route), 0, now(), random()) : null)
  let changed = 0
  let chunks = 0
  for (const status of walks) {
    for (let afterId: string | null = smallestId; afterId !== null; chunks += 1) {
      if (chunks >= maxChunks || signal.aborted) return { changed, isDone: false }
      const chunk = { route, status, afterId, limit: chunkSize }
      const done: { count: number; lastId: string | null } = isOpen(state)
        ? await letMessagesGo(sql, { ...chunk, nextRetryAt: dueAt() })
        : await holdMessages(sql, chunk)
      changed += done.count
      afterId = done.count < chunkSize ? null : done.lastId
    }
  }
  await noteApplied(sql, route)
  return { changed, isDone: true }
}
