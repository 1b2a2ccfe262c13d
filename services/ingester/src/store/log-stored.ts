// Says in the log what a batch has stored: one line for the batch, and at level debug one for each message.

import type { Log } from 'dlq-core/runtime/log.ts'
import type { Batch, StoreOutcome } from './store-batch.ts'

export function logStored(
  log: Log,
  { topic, partition }: Pick<Batch, 'topic' | 'partition'>,
  { messages }: Pick<StoreOutcome & { kind: 'stored' }, 'messages'>,
): void {
  if (messages.length === 0) return
  log.info(
    { topic, partition, count: messages.length, firstId: messages[0]!.id, lastId: messages.at(-1)!.id },
    'batch_stored',
  )
  if (!log.isLevelEnabled('debug')) return
  for (const { id, dlq_offset: offset } of messages)
    log.debug({ messageId: id, topic, partition, offset: String(offset) }, 'message_stored')
}
