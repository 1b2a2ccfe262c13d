// Whether something newer than a message is known, as its detail says it.

import { areOtherGroups } from 'dlq-core/domain/failure/topic-routes.ts'
import { statuses } from 'dlq-core/domain/retry/message-state.ts'
import type { MessageDetail } from 'dlq-core/queries/reading/message-detail.ts'
import type { NewerDeadLetter } from 'dlq-core/queries/staleness/newer-dead-letters.ts'
import * as v from 'valibot'
import { timestamp, timestampText } from './timestamp.ts'

export const stalenessSchema = v.pipe(
  v.strictObject({
    superseded: v.pipe(
      v.boolean(),
      v.description(
        'A record of the same key stood behind this one in its partition, and it was sent since, or failed only for another consumer group: a retry would bring the older state after the newer one. False says only that none is known: newer records that never failed are not looked for.',
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
    advice: v.nullable(v.string()),
  }),
  v.title('Staleness'),
)

export const maxNewer = 5

type Judged = Pick<MessageDetail, 'status' | 'consumer_group'>

export function stalenessJson(
  newer: readonly NewerDeadLetter[],
  message: Judged,
): v.InferOutput<typeof stalenessSchema> {
  const sent = newer.find((of) => of.status === 'RESOLVED')
  // Where another group failed on the newer record, this one has read it.
  const read = newer.find((of) => areOtherGroups(of.consumer_group, message.consumer_group))
  const open = newer.find((of) => of.status !== 'RESOLVED')
  return {
    superseded: sent !== undefined || read !== undefined,
    newer: newer.map(({ id, status, original_offset, original_timestamp }) => ({
      ...{ id, status, original_offset: String(original_offset) },
      original_timestamp: original_timestamp && timestamp(original_timestamp),
    })),
    advice: message.status === 'RESOLVED' ? null : adviceOf({ sent, read, open }),
  }
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
