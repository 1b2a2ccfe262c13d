// Makes messages follow the routes whose state has changed: the rest of what a decision's own request did not do, and
// all of what a change of the configuration means.

import { listApplying } from 'dlq-core/queries/routes/routes.ts'
import { applyRoute } from 'dlq-core/runtime/apply-route.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import type { PolicySource } from 'dlq-core/runtime/policy-source.ts'

export type ApplyRoutesDeps = {
  sql: Database
  policies: PolicySource
  dlqPatterns: readonly string[]
  /** By the database's clock. */
  databaseNow: () => Date
}

/** Routes and chunks of one pass; the next one goes on. */
const limit = 100
const maxChunks = 200

/** Returns how many messages it changed. */
export async function applyRoutes(
  { sql, policies, dlqPatterns, databaseNow }: ApplyRoutesDeps,
  signal: AbortSignal,
): Promise<number> {
  const routes = await listApplying(sql, { limit })
  if (routes.length === 0) return 0
  await policies.refresh()
  const deps = { sql, policyOf: policies.policyOf, dlqPatterns, now: databaseNow, random: Math.random }
  let changed = 0
  for (const route of routes) changed += (await applyRoute(deps, route, { maxChunks, signal })).changed
  return changed
}
