// The ledger says which batch of a slot Kafka committed last: an offset of a consumer group without
// members, which every transaction of the slot commits together with its records. The topic that the
// offset belongs to holds no records. The batch's token goes along as the offset's metadata, so that a
// number which somebody else committed is not taken for ours.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Admin, Kafka } from 'kafkajs'

export type LedgerEntry = {
  /** Null where Kafka knows of none: it expired, or the ledger was made anew. */
  batch: bigint | null
  token: string | null
}

export type OutstandingBatch = { readonly batch: bigint; readonly token: string | null }
export type Verdict = 'published' | 'unpublished' | 'unknown'

/** What became of a batch whose owner has not settled it, once the slot's producers are fenced. */
export function judgeBatch({ batch, token }: OutstandingBatch, ledger: LedgerEntry): Verdict {
  if (ledger.batch === null) return 'unknown'
  if (ledger.batch < batch) return 'unpublished'
  // Higher: the database was restored from a backup. Another token: somebody else's batch of the same number.
  return ledger.batch === batch && ledger.token === token ? 'published' : 'unknown'
}

/** The consumer group whose offset is the slot's entry. */
export function ledgerGroup(prefix: string, slot: number): string {
  return `${prefix}-ledger-${slot}`
}

const ledgerPartition = 0

/** The entry as `sendOffsets` takes it. kafkajs passes the metadata on, but its types do not name it. */
export function ledgerOffsets(topic: string, { batch, token }: { batch: bigint; token: string }) {
  const entry = { partition: ledgerPartition, offset: String(batch), metadata: token }
  return [{ topic, partitions: [entry] }]
}

/**
 * Makes the ledger's topic unless it is there: one partition, replicated as the cluster does by default.
 * Compacted, so that no retention touches it, and so that records without a key, sent there by mistake, are refused.
 */
export async function ensureLedger(admin: Admin, topic: string): Promise<void> {
  if ((await admin.listTopics()).includes(topic)) return
  const configEntries = [{ name: 'cleanup.policy', value: 'compact' }]
  // It answers false where another retrier was quicker.
  await admin.createTopics({ topics: [{ topic, numPartitions: 1, configEntries }], waitForLeaders: true })
}

const agreeAfterMs = 100
const maxReadings = 50

/**
 * Reads the slot's entry until two readings agree: brokers before 4.0 apply a transaction's offsets a
 * moment after its end. The slot's producers must be fenced before.
 */
export async function readLedger(
  kafka: Kafka,
  { topic, groupId }: { topic: string; groupId: string },
): Promise<LedgerEntry> {
  // A client of its own: one that has met a deleted topic keeps failing for all topics.
  const admin = kafka.admin()
  try {
    await admin.connect()
    let before: LedgerEntry | null = null
    for (let readings = 1; readings < maxReadings; readings += 1) {
      const entry = await readOnce(admin, { topic, groupId }, { isLast: readings === maxReadings - 1 })
      if (entry && before && entry.batch === before.batch && entry.token === before.token) return entry
      before = entry
      await sleep(agreeAfterMs)
    }
    throw new Error(
      `the ledger's entry of ${groupId} changes all the time: somebody else publishes with the same prefix`,
    )
  } finally {
    await admin.disconnect()
  }
}

/** Null where the group's coordinator is still being found or loaded. */
async function readOnce(
  admin: Admin,
  { topic, groupId }: { topic: string; groupId: string },
  { isLast }: { isLast: boolean },
): Promise<LedgerEntry | null> {
  const fetched = await admin.fetchOffsets({ groupId, topics: [topic] }).catch((error: Error) => {
    // kafkajs does not try again itself.
    if ('retriable' in error && error.retriable === true && !isLast) return null
    throw error
  })
  if (fetched === null) return null
  const [ofTopic] = fetched
  const entry = ofTopic?.partitions.find(({ partition }) => partition === ledgerPartition)
  if (entry === undefined || entry.offset === '-1') return { batch: null, token: null }
  return { batch: BigInt(entry.offset), token: entry.metadata || null }
}
