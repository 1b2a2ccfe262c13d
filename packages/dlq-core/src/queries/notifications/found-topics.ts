// dlq_candidates: topics that look like DLQ topics and were found lately.

import type { Sql } from '../sql.ts'

export type FoundCandidate = { topic: string; cluster: string; family: string | null; when: string }

/** Those since `after` whose name or records are clear enough, and that nobody has dismissed. */
export async function listFoundCandidates(sql: Sql, { after }: { after: Date }): Promise<FoundCandidate[]> {
  return sql<FoundCandidate[]>`
    select topic, cluster, family, found_at::text as when
    from dlq.dlq_candidates
    where found_at > ${after} and gone_at is null and dismissed_at is null and confidence <> 'weak'
    order by found_at
    limit 200`
}
