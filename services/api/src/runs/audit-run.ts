// Writes into the audit what somebody did to a run.

import type { RunKind } from 'dlq-core/domain/message/run-kinds.ts'
import { writeAudit } from 'dlq-core/queries/change/audit.ts'
import type { Transaction } from 'dlq-core/runtime/database/database.ts'
import type { Call } from '../http/define-route.ts'

type Audited = { id: string; kind: RunKind; reason: string | null }

export async function auditRun(
  sql: Transaction,
  { id, reason }: Audited,
  {
    action,
    by,
    before = null,
    after = null,
  }: { action: string; by: Call['by']; before?: object | null; after?: object | null },
): Promise<void> {
  await writeAudit(sql, { ...by, action, target_type: 'run', target_id: id, reason, before, after })
}
