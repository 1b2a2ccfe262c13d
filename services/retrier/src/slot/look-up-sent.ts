// What became of records whose commit's answer never came, as read-committed consumers see it. The ledger's entry is a part
// of the same transaction, and Kafka ends a transaction everywhere or nowhere, with one exception. A transaction coordinator
// that was killed takes up, when it is back, also what it had written and not replicated yet (KAFKA-5059: it loads its log to
// the end). So it may commit the entry before another broker leads, which knows nothing of that and aborts the records. Seen
// where two of three brokers were killed at once (decision 94).

import { setTimeout as sleep } from 'node:timers/promises'
import { republishHeaderNames } from 'dlq-core/domain/failure/families/own.ts'
import { partitionKey } from 'dlq-core/domain/record/record-place.ts'
import type { Sent } from 'dlq-core/queries/retry/slots.ts'
import type { TopicReader } from 'dlq-core/runtime/kafka/topic-reader.ts'
import type { Log } from 'dlq-core/runtime/log.ts'

export type LookUpDeps = {
  /** Null without Kafka. */
  reader: Pick<TopicReader, 'fetchRecords'> | null
  log: Log
}

export type Fate = 'committed' | 'aborted'

/** Somebody's open transaction before the record may hide what became of it for as long as it lasts. */
const patienceMs = 5000
const askAgainMs = 100
/** Kafka returns the batch of the record at least. */
const maxBytes = 1

/**
 * Returns the fate of each record, by the id of its message. A record whose fate is not known is left out. Call it when the
 * slot's earlier producers are fenced. It reads one record of each partition: all of a partition are of one transaction, so
 * they share their fate.
 */
export async function lookUpSent({ reader, log }: LookUpDeps, sent: readonly Sent[]): Promise<Map<string, Fate>> {
  const fates = new Map<string, Fate>()
  if (reader === null) return fates
  const until = performance.now() + patienceMs
  const ofPartitions = [...Map.groupBy(sent, partitionKey).values()]
  await Promise.all(
    ofPartitions.map(async (records) => {
      const first = records.find(({ offset }) => offset !== null)
      if (first === undefined) return
      const fate = await fateOf(reader, first, until).catch((error: Error) => {
        // Such as a topic that this client may write and not read.
        log.info({ topic: first.topic, partition: first.partition, error: error.message }, 'sent_not_looked_up')
        return null
      })
      if (fate !== null) for (const { id } of records) fates.set(id, fate)
    }),
  )
  return fates
}

async function fateOf(
  reader: Pick<TopicReader, 'fetchRecords'>,
  { id, topic, partition, offset }: Sent,
  until: number,
): Promise<Fate | null> {
  for (;;) {
    const fetched = await reader.fetchRecords({ topic, partition, offset: offset!, maxBytes })
    if (fetched.kind !== 'records') return null
    if (fetched.isAborted) return 'aborted'
    const [message] = fetched.messages
    if (message?.offset === String(offset))
      // Else the topic was created again, or its log was cut.
      return message.headerPairs.some(
        ([name, value]) => name === republishHeaderNames.messageId && String(value) === id,
      )
        ? 'committed'
        : null
    if (fetched.nextOffset > offset! || performance.now() > until) return null
    await sleep(askAgainMs)
  }
}
