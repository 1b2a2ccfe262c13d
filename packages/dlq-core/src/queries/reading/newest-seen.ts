// The newest messages of a scan that a caller may see, for figures about some of them.

import type { Fragment, Sql } from '../sql.ts'
import { messageInScope, type TopicScope } from '../topic-scope.ts'
import type { MessageScan } from './message-scan.ts'
import { tested } from './message-search.ts'

/**
 * The rows along the index that are looked at where some may be others'. Whoever writes a DLQ topic may claim any original
 * topic, so others choose how many of theirs stand among a caller's. A merged scan reads as many of each topic.
 */
const lookedThrough = { plain: 10_000, merged: 1000 }

/** Two subqueries: the ids of `examine` of them at most, and one number: how many rows the scan has, up to `bound`. */
export function newestSeen(
  sql: Sql,
  { scan, scope, examine }: { scan: MessageScan; scope: TopicScope; examine: number },
): { ids: Fragment; walked: Fragment; bound: number } {
  const bound = scope === null ? examine : Math.max(examine, scan.isMerged ? lookedThrough.merged : lookedThrough.plain)
  const walk = scan.ids({ after: null, limit: bound })
  const seen = tested(sql, { table: scan.table, tests: [messageInScope(sql, scope, 'm.')] })
  return {
    // In the order of the walk, which ends as soon as there are enough.
    ids:
      scope === null
        ? sql`select id from ${walk} found`
        : sql`
      select found.id from ${walk} found cross join lateral ${seen} m limit ${examine}`,
    walked: sql`select count(*)::int from ${scan.places(bound)} found`,
    bound,
  }
}
