// Stores what was compared with originals, in the transaction that stores the messages.

import type { NewMessage } from 'dlq-core/domain/message/new-message.ts'
import type { PolicyOf } from 'dlq-core/domain/retry/effective-policy.ts'
import { insertOrigins } from 'dlq-core/queries/origin/origins.ts'
import type { Transaction } from 'dlq-core/runtime/database/database.ts'
import { adoptOrigin } from 'dlq-core/runtime/fetching/origin-rows.ts'
import type { PayloadReader } from 'dlq-core/runtime/schemas/payload-reader.ts'
import type { ComparedOrigin } from '../read/compare-originals.ts'

export async function storeOrigins(
  sql: Transaction,
  messages: readonly NewMessage[],
  {
    compared,
    policyOf,
    payloads,
  }: { compared: ReadonlyMap<string, ComparedOrigin>; policyOf: PolicyOf; payloads: PayloadReader | null },
): Promise<void> {
  if (compared.size === 0) return
  const rows = messages.flatMap(({ id }) => compared.get(id)?.row ?? [])
  const news = await insertOrigins(sql, rows)
  for (const message of messages) {
    const origin = compared.get(message.id)
    // One that was compared before has been adopted before, too.
    if (!origin?.adopts || !news.has(message.id)) continue
    const { family, record } = origin.adopts
    await adoptOrigin(
      sql,
      {
        ...{ id: message.id, actor: 'system', request_id: 'ingestion', reason: `policy record: ${record}` },
        ...{ origin: origin.row, family },
      },
      { topics: message, policy: policyOf(message), payloads },
    )
  }
}
