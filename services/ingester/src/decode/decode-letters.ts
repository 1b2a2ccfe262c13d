// Decodes the values of a batch that are not JSON, so that payload search and SQL work on them too. A topic whose policy
// stores no payload is left alone, and so is JSON, which readDeadLetter has projected already. Keys are stored as they are; the
// schemas that their headers name are noted, for searches.

import type { DeadLetter } from 'dlq-core/domain/message/new-message.ts'
import { maxEncodedBytes } from 'dlq-core/domain/payload/payload-bounds.ts'
import type { PartRule } from 'dlq-core/domain/payload/payload-settings.ts'
import { hasSchemaHeader } from 'dlq-core/domain/payload/schema-frames.ts'
import { storedDecoding } from 'dlq-core/domain/payload/stored-decoding.ts'
import type { DeadLetterRecord } from 'dlq-core/domain/record/record.ts'
import type { PolicyOf } from 'dlq-core/domain/retry/effective-policy.ts'
import type { PayloadReader } from 'dlq-core/runtime/schemas/payload-reader.ts'

export type DecodeDeps = { reader: PayloadReader; policyOf: PolicyOf }

/** The letters of the records, in their order. It asks the database for schemas, and never a registry. */
export async function decodeLetters(
  { reader, policyOf }: DecodeDeps,
  records: readonly DeadLetterRecord[],
  letters: readonly DeadLetter[],
): Promise<readonly DeadLetter[]> {
  await reader.noteKeys(records.map(({ headers }, at) => ({ headers, topics: letters[at]!.message })))
  const wanted: number[] = []
  for (const [at, { message }] of letters.entries()) {
    const { headers } = records[at]!
    const rule = reader.planOf(message).value
    if (mayDiffer(message.payload, rule, hasSchemaHeader(headers, 'value')) && policyOf(message).payload !== 'derived')
      wanted.push(at)
  }
  if (wanted.length === 0) return letters
  const readings = await reader.readAll(
    wanted.map((at) => ({
      bytes: records[at]!.value,
      part: 'value' as const,
      headers: records[at]!.headers,
      topics: letters[at]!.message,
    })),
    { maxBytes: maxEncodedBytes },
  )
  const decoded = new Map(wanted.map((at, index) => [at, storedDecoding(readings[index]!, true)]))
  return letters.map((letter, at) => ({ ...letter, message: { ...letter.message, ...decoded.get(at) } }))
}

/** Whether the value may be something else than its JSON projection says. */
function mayDiffer(payload: string | null, { format }: PartRule, hasSchema: boolean): boolean {
  return payload === null || hasSchema || (format !== 'auto' && format !== 'json')
}
