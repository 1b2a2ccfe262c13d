// Whether claimed messages whose policy holds stale ones may be sent. What was fresh at the last look is read on to the end
// of its partition once more, a moment before it is sent: per partition and batch, not per message.

import type { PolicyOf } from 'dlq-core/domain/retry/effective-policy.ts'
import { createPartitionScan, keyText } from 'dlq-core/domain/staleness/partition-scan.ts'
import type { ClaimedMessage } from 'dlq-core/queries/retry/batches.ts'
import { enterMessages, type KnownStaleness, listStaleness } from 'dlq-core/queries/staleness/answers.ts'
import { type HeldStale, listSendingRuns } from 'dlq-core/queries/staleness/hold-stale.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import { refusalOf } from 'dlq-core/runtime/kafka/refusals.ts'
import type { TopicReader } from 'dlq-core/runtime/kafka/topic-reader.ts'
import kafkajs from 'kafkajs'
import { createPartitionRead } from './read-on.ts'

/** Ids of messages that are not sent now. The others may be. */
export type LastLook = {
  stale: HeldStale[]
  /** No retrier has looked far enough yet. */
  waiting: string[]
  /** Topics of which Kafka tells nothing at present. Their messages wait. */
  unreadable: { topic: string; error: Error }[]
}

export type LastLookDeps = {
  sql: Database
  policyOf: PolicyOf
  /** Null without Kafka: then nothing can be read, and nothing is sent there. */
  reader: Pick<TopicReader, 'fetchRecords' | 'fetchLogBounds'> | null
}

/** The claimed messages that a record was made of, with where it goes. */
export type Addressed = { message: ClaimedMessage; topic: string }

/** More is left to the scan, whose rate is bounded. */
const maxBytes = 8 * 1024 * 1024

/** Looks only where a policy says "hold", and a message goes back to where it came from. */
export async function lookOnceMore(deps: LastLookDeps, batch: readonly Addressed[]): Promise<LastLook> {
  const { sql, policyOf, reader } = deps
  const guarded = batch.flatMap(({ message, topic }) =>
    topic === message.original_topic && policyOf(message).staleness === 'hold' ? [message] : [],
  )
  if (guarded.length === 0 || reader === null) return { stale: [], waiting: [], unreadable: [] }
  const runs = await listSendingRuns(sql, [...new Set(guarded.flatMap(({ run_id }) => run_id ?? []))])
  const asked = guarded.filter(({ run_id }) => run_id === null || !runs.has(run_id))
  const known = await learn(
    sql,
    asked.map(({ id }) => id),
  )
  const look: LastLook = { stale: [], waiting: [], unreadable: [] }
  const fresh: Fresh[] = []
  for (const message of asked) {
    const found = known.get(message.id)
    if (found?.forced_attempt === message.retry_count) continue
    if (found === undefined || found.answer === 'waiting') look.waiting.push(message.id)
    else if (found.answer === 'fresh') fresh.push({ message, known: found })
    else look.stale.push({ ...found, id: message.id })
  }
  const places = Map.groupBy(fresh, ({ message }) => `${message.original_topic} ${message.original_partition}`)
  await Promise.all([...places.values()].map((of) => readOn(deps, { reader, of, look })))
  return look
}

type Fresh = { message: ClaimedMessage; known: KnownStaleness }

async function learn(sql: Database, ids: readonly string[]): Promise<Map<string, KnownStaleness>> {
  const list = async (some: readonly string[]) =>
    (await listStaleness(sql, some)).map((row) => [row.message_id, row] as const)
  const known = new Map(await list(ids))
  const missing = ids.filter((id) => !known.has(id))
  if (missing.length === 0) return known
  await enterMessages(sql, missing)
  return new Map([...known, ...(await list(missing))])
}

type Reading = { reader: NonNullable<LastLookDeps['reader']>; of: readonly Fresh[]; look: LastLook }

/** Reads one partition for its fresh messages, and notes which are not fresh any more. */
async function readOn({ sql }: LastLookDeps, { reader, of, look }: Reading): Promise<void> {
  const { original_topic: topic, original_partition } = of[0]!.message
  const partition = original_partition!
  const wait = (messages: readonly Fresh[]) => look.waiting.push(...messages.map(({ message }) => message.id))
  try {
    const bounds = await reader.fetchLogBounds([topic])
    const end = bounds.find((one) => one.partition === partition)?.log_end_offset ?? null
    const settled = of.filter(
      ({ known: { fresh_to, topic_partitions } }) => fresh_to !== null && topic_partitions === bounds.length,
    )
    wait(of.filter((one) => !settled.includes(one)))
    if (end === null) return void wait(settled)
    const read = createPartitionRead({ sql, reader }, { topic, partition })
    const open = settled.map(({ message, known: { fresh_to, original_offset } }) => ({
      ...{ id: message.id, key: keyText(message.record_key!), isTombstone: message.record_value === null },
      ...{ offset: original_offset!, start: fresh_to! },
    }))
    const scan = createPartitionScan(open, { maxBytes, isCompacted: false, isOld: read.isOld })
    for (let at = scan.position(); at !== null && at < end; at = scan.position()) {
      const step = await read.step(scan)
      if (step.kind === 'end') break
      if (step.kind === 'moved') return void wait(settled)
    }
    for (const decided of scan.decided()) {
      if (decided.answer === 'superseded') look.stale.push(decided)
      else look.waiting.push(decided.id)
    }
  } catch (error) {
    const undecided = of.filter(({ message: { id } }) => !look.waiting.includes(id))
    if (refusalOf(error) !== null) {
      const answer = { answer: 'unknown', reason: 'not_allowed', newer_offset: null, newer_at: null } as const
      look.stale.push(...undecided.map(({ message: { id } }) => ({ id, ...answer })))
    } else if (error instanceof kafkajs.KafkaJSError) {
      // A partition without a leader, a deleted topic: what else the batch has does not wait for it.
      look.unreadable.push({ topic, error })
      wait(undecided)
    } else throw error
  }
}
