// Whether something newer than a message is known, as its detail says it.

import { areOtherGroups } from 'dlq-core/domain/failure/topic-routes.ts'
import { statuses } from 'dlq-core/domain/retry/message-state.ts'
import type { RetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import { stalenessAnswers, stalenessReasons, stalenessWords } from 'dlq-core/domain/staleness/staleness.ts'
import type { MessageDetail } from 'dlq-core/queries/reading/message-detail.ts'
import type { KnownStaleness } from 'dlq-core/queries/staleness/answers.ts'
import type { NewerDeadLetter } from 'dlq-core/queries/staleness/newer-dead-letters.ts'
import * as v from 'valibot'
import { timestamp, timestampText } from './timestamp.ts'

export const stalenessSchema = v.pipe(
  v.strictObject({
    superseded: v.pipe(
      v.boolean(),
      v.description(
        'A record of the same key stood behind this one in its partition, and it was sent since, or failed only for another consumer group: a retry would bring the older state after the newer one. Or a retrier found a newer record, where the policy asks for a look. False says only that none is known.',
      ),
    ),
    newer: v.pipe(
      v.array(
        v.strictObject({
          id: v.pipe(v.string(), v.uuid()),
          status: v.picklist(statuses),
          original_offset: v.string(),
          original_timestamp: v.nullable(timestampText),
        }),
      ),
      v.description('Dead letters of the same key with a later original offset; the first five.'),
    ),
    guard: v.pipe(
      v.nullable(
        v.strictObject({
          policy: v.picklist(['warn', 'hold']),
          answer: v.pipe(
            v.picklist(stalenessAnswers),
            v.description('waiting: no retrier has looked yet. fresh: nothing newer was committed below fresh_to.'),
          ),
          reason: v.pipe(v.nullable(v.picklist(stalenessReasons)), v.description('Of an unknown answer.')),
          newer_offset: v.pipe(
            v.nullable(v.string()),
            v.description('Of a superseded message; null where compaction has taken its own record.'),
          ),
          newer_at: v.nullable(timestampText),
          fresh_to: v.nullable(v.string()),
          as_of: v.nullable(timestampText),
        }),
      ),
      v.description(
        'What a retrier found in the original partition behind the message. Null where the policy does not ask ("staleness": "ignore").',
      ),
    ),
    advice: v.nullable(v.string()),
  }),
  v.title('Staleness'),
)

/** What the policy asks for, and what is known; null: nothing yet. */
export type Guarded = { policy: RetryPolicy['staleness']; known: KnownStaleness | null }

export const unguarded: Guarded = { policy: 'ignore', known: null }

export const maxNewer = 5

type Judged = Pick<MessageDetail, 'status' | 'consumer_group'>

export function stalenessJson(
  newer: readonly NewerDeadLetter[],
  message: Judged,
  guarded: Guarded,
): v.InferOutput<typeof stalenessSchema> {
  const sent = newer.find((of) => of.status === 'RESOLVED')
  // Where another group failed on the newer record, this one has read it.
  const read = newer.find((of) => areOtherGroups(of.consumer_group, message.consumer_group))
  const open = newer.find((of) => of.status !== 'RESOLVED')
  const guard = guardJson(guarded)
  return {
    superseded: sent !== undefined || read !== undefined || guard?.answer === 'superseded',
    newer: newer.map(({ id, status, original_offset, original_timestamp }) => ({
      ...{ id, status, original_offset: String(original_offset) },
      original_timestamp: original_timestamp && timestamp(original_timestamp),
    })),
    guard,
    advice: message.status === 'RESOLVED' ? null : (adviceOf({ sent, read, open }) ?? guardWords(guarded)),
  }
}

function guardJson({ policy, known }: Guarded): v.InferOutput<typeof stalenessSchema>['guard'] {
  if (policy === 'ignore') return null
  const offset = (of: bigint | null | undefined) => (of === null || of === undefined ? null : String(of))
  return {
    ...{ policy, answer: known?.answer ?? 'waiting', reason: known?.reason ?? null },
    ...{ newer_offset: offset(known?.newer_offset), newer_at: known?.newer_at ? timestamp(known.newer_at) : null },
    ...{ fresh_to: offset(known?.fresh_to), as_of: known?.looked_at ? timestamp(known.looked_at) : null },
  }
}

/** Why a policy holds a message; null where it does not. */
export function staleWords({ policy, known }: Guarded): string | null {
  return policy === 'hold' ? guardWords({ policy, known }) : null
}

/** What speaks against a retry; null while nobody has looked. */
function guardWords({ policy, known }: Guarded): string | null {
  return policy === 'ignore' || known === null || known.answer === 'waiting' ? null : stalenessWords(known)
}

type Known = { sent: NewerDeadLetter | undefined; read: NewerDeadLetter | undefined; open: NewerDeadLetter | undefined }

function adviceOf({ sent, read, open }: Known): string | null {
  if (sent !== undefined)
    return `a newer record of this key (offset ${sent.original_offset}) was sent already: a retry brings the older state after it`
  if (read !== undefined)
    return `a newer record of this key (offset ${read.original_offset}) failed only for the consumer group ${read.consumer_group}: a retry brings the older state after it`
  if (open === undefined) return null
  return `a newer record of this key (offset ${open.original_offset}) is ${open.status} too: retry both, this one first; "ordering": "per-key" in the policy sees to that`
}
