// A message of a run with its outcome, as the API shows it.

import { listedChars, listedKeyBytes } from 'dlq-core/domain/message/listed-text.ts'
import { waitingOf } from 'dlq-core/domain/message/run.ts'
import { statuses } from 'dlq-core/domain/retry/message-state.ts'
import { verdicts } from 'dlq-core/queries/readers/verdicts.ts'
import { type ItemMessage, type RunItem, type RunOutcome, runOutcomes } from 'dlq-core/queries/runs/run-items.ts'
import type { RunView } from 'dlq-core/queries/runs/runs.ts'
import * as v from 'valibot'
import { hiddenEntries, shown } from '../../masks/shown.ts'
import type { Sight } from '../../masks/sight.ts'
import { readable } from '../../messages/readable-record.ts'

const text = v.nullable(v.string())

export const runItemSchema = v.pipe(
  v.strictObject({
    id: v.string(),
    ...hiddenEntries,
    outcome: v.picklist(runOutcomes),
    detail: v.pipe(text, v.description(`The first ${listedChars} characters.`)),
    verdict: v.exactOptional(v.pipe(v.picklist(verdicts), v.description('Where the request asks for a verdict.'))),
    verdict_reason: v.exactOptional(v.nullable(v.string())),
    message: v.exactOptional(
      v.pipe(
        v.nullable(
          v.strictObject({
            original_topic: v.string(),
            dlq_topic: text,
            consumer_group: text,
            key: v.nullable(v.strictObject({ value: text, encoding: v.picklist(['text', 'number', 'base64']) })),
            error_class: text,
            error_message: v.string(),
            status: v.picklist(statuses),
            group_id: text,
            ...hiddenEntries,
          }),
        ),
        v.description(
          `With show=message: the message as it is now, with the first ${listedKeyBytes} bytes of its key and ${listedChars} characters of its error message; null where it is archived or deleted.`,
        ),
      ),
    ),
  }),
  v.title('RunItem'),
)

export const exampleRunItem = {
  id: '0194f2c8-7a51-7e64-9d0a-2f8f2b9a3c11',
  outcome: 'failed_again',
  detail: 'no such customer',
  message: {
    ...{ original_topic: 'orders', dlq_topic: 'orders.dlq.v1', consumer_group: 'billing' },
    ...{ key: { value: 'customer-7', encoding: 'text' }, error_class: 'com.example.NoSuchCustomer' },
    ...{ error_message: 'no such customer', status: 'PENDING', group_id: null },
  },
}

/** `messages`: the messages by their ids; null where they were not asked for. */
export function runItemJson(item: RunItem, messages: ReadonlyMap<string, ItemMessage> | null, sight: Sight) {
  const asShown = shown(item, sight, 'anywhere')
  if (messages === null) return asShown
  const message = messages.get(item.id)
  if (message === undefined) return { ...asShown, message: null }
  const { id: _, record_key: key, ...rest } = shown(message, sight)
  return { ...asShown, message: { ...rest, key: key && readable(key) } }
}

export function outcomeCounts(run: RunView): Record<RunOutcome, number> {
  const skipped = Object.values(JSON.parse(run.skipped) as Record<string, number>).reduce((sum, n) => sum + n, 0)
  const { resolved, failed, failed_again } = run
  return { waiting: waitingOf(run), resolved, failed, failed_again, skipped }
}
