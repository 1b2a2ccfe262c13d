// Decodes the values of a batch that are not JSON, so that payload search and SQL work on them too. Left alone are: a topic
// whose policy stores no payload, JSON, which readDeadLetter has projected already, and what gets its payload after a
// backlog. Keys are stored as they are; the schemas that their headers name are noted, for searches.

import type { DeadLetter } from 'dlq-core/domain/message/new-message.ts'
import { maxEncodedBytes } from 'dlq-core/domain/payload/payload-bounds.ts'
import type { DeadLetterRecord } from 'dlq-core/domain/record/record.ts'
import type { PolicyOf } from 'dlq-core/domain/retry/effective-policy.ts'
import { decodeProjected, mayDiffer, type Projected } from 'dlq-core/runtime/schemas/decode-projected.ts'
import type { PayloadReader } from 'dlq-core/runtime/schemas/payload-reader.ts'

export type Decoder = {
  /** The letters of the records, in their order. It asks the database for schemas, and never a registry. */
  decode(records: readonly DeadLetterRecord[], letters: readonly DeadLetter[]): Promise<readonly DeadLetter[]>
  /** Whether `decode` may have something to do for the letter of this record. */
  concerns(record: DeadLetterRecord, letter: DeadLetter): boolean
}

export function createDecoder({ reader, policyOf }: { reader: PayloadReader; policyOf: PolicyOf }): Decoder {
  const isStored = ({ message, isPayloadDeferred }: DeadLetter) =>
    !isPayloadDeferred && policyOf(message).payload !== 'derived'
  const projectedOf = ({ value, headers }: DeadLetterRecord, { message }: DeadLetter): Projected => ({
    readable: { bytes: value, part: 'value', headers, topics: message },
    payload: message.payload,
  })
  return {
    async decode(records, letters) {
      await reader.noteKeys(records.map(({ headers }, at) => ({ headers, topics: letters[at]!.message })))
      const stored = [...letters.keys()].filter((at) => isStored(letters[at]!))
      const values = stored.map((at) => projectedOf(records[at]!, letters[at]!))
      const decoded = await decodeProjected(reader, values, { maxBytes: maxEncodedBytes })
      if (decoded.size === 0) return letters
      const columns = new Map([...decoded].map(([index, columns]) => [stored[index]!, columns]))
      return letters.map((letter, at) => ({ ...letter, message: { ...letter.message, ...columns.get(at) } }))
    },
    concerns(record, letter) {
      if (!reader.isKeyNoted({ headers: record.headers, topics: letter.message })) return true
      return isStored(letter) && mayDiffer(reader, projectedOf(record, letter))
    },
  }
}
