// Resolves error groups that are over: by a policy's auto_resolve, and only by what was read and stayed away.

import { formatDuration } from 'dlq-core/domain/retry/duration.ts'
import { writeAudit } from 'dlq-core/queries/change/audit.ts'
import { listQuietGroups, type QuietGroup, resolveQuietGroup } from 'dlq-core/queries/groups/quiet-groups.ts'
import { listTopicPairs } from 'dlq-core/queries/reading/summary.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import type { PolicySource } from 'dlq-core/runtime/policy-source.ts'

/** Groups of one pass; the next one goes on behind them, because those that nobody reads stay for ever. */
const limit = 100

export type QuietGroupsDeps = { sql: Database; policies: Pick<PolicySource, 'refresh' | 'policyOf'> }

/** The passes of one retrier; each returns how many groups it resolved. Each group is audited as done by `auto`. */
export function createQuietGroupsPass({ sql, policies }: QuietGroupsDeps) {
  let after: QuietGroup | null = null
  return async function resolveQuietGroups(signal: AbortSignal): Promise<number> {
    await policies.refresh()
    const topics = (await listTopicPairs(sql)).flatMap((pair) => {
      const { autoResolveMs } = policies.policyOf(pair)
      return autoResolveMs === null ? [] : [{ ...pair, afterMs: autoResolveMs }]
    })
    const groups = await listQuietGroups(sql, { topics, after, limit })
    let resolved = 0
    for (const group of groups) {
      signal.throwIfAborted()
      after = group
      if (await resolveGroup(sql, group)) resolved += 1
    }
    if (groups.length < limit) after = null
    return resolved
  }
}

async function resolveGroup(sql: Database, group: QuietGroup): Promise<boolean> {
  return sql.begin(async (sql) => {
    if (!(await resolveQuietGroup(sql, group))) return false
    await writeAudit(sql, {
      ...{ actor: 'auto', role: 'auto', request_id: '', action: 'group.change', target_type: 'group' },
      ...{ target_id: group.group_id, dlq_topic: group.dlq_topic },
      reason: `auto_resolve: nothing failed for ${formatDuration(group.afterMs)}, and all was read`,
      ...{ before: { state: 'open' }, after: { state: 'resolved' } },
    })
    return true
  })
}
