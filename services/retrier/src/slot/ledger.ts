// The ledger says which batch of a slot Kafka committed last. It is an offset of a consumer group without members:
// every transaction of the slot commits its batch number as that offset, together with its records. The offset's topic
// holds no records. The offset's metadata holds the batch's token, so that another batch of the same number is not
// taken for ours.

import { setTimeout as sleep } from 'node:timers/promises'
import type { OutstandingBatch } from 'dlq-core/queries/retry/batches.ts'
import type { Admin, Kafka } from 'kafkajs'

export type LedgerEntry = {
  /** Null where Kafka has no entry: it expired, or the ledger was created again. */
  batchNumber: bigint | null
  token: string | null
}

export type Verdict = 'published' | 'unpublished' | 'unknown'

/** Whether a batch that its owner has not settled was published. The slot's producers must be fenced before. */
export function judgeBatch(
  { batch: batchNumber, token }: Pick<OutstandingBatch, 'batch' | 'token'>,
  ledger: LedgerEntry,
): Verdict {
  if (ledger.batchNumber === null) return 'unknown'
  if (ledger.batchNumber < batchNumber) return 'unpublished'
  // A higher number: the database was restored from a backup. Another token: another batch of the same number.
  return ledger.batchNumber === batchNumber && ledger.token === token ? 'published' : 'unknown'
}

/** The consumer group whose offset is the slot's entry. */
export function ledgerGroup(prefix: string, slot: number): string {
  return `${prefix}-ledger-${slot}`
}

const ledgerPartition = 0

/** The entry as `sendOffsets` takes it. kafkajs passes the metadata on, but its types do not name it. */
export function ledgerOffsets(topic: string, { batchNumber, token }: { batchNumber: bigint; token: string }) {
  const entry = { partition: ledgerPartition, offset: String(batchNumber), metadata: token }
  return [{ topic, partitions: [entry] }]
}

/**
 * Creates the ledger's topic unless it exists: one partition, with the cluster's default replication.
 * Compacted, so that no retention touches it, and so that records without a key, sent there by mistake, are refused.
 */
export async function ensureLedger(admin: Admin, topic: string): Promise<void> {
  if ((await admin.listTopics()).includes(topic)) return
  const configEntries = [{ name: 'cleanup.policy', value: 'compact' }]
  // Answers false where another retrier was quicker.
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
  // A separate client, because one that has met a deleted topic keeps failing for all topics.
  const admin = kafka.admin()
  try {
    await admin.connect()
    let before: LedgerEntry | null = null
    for (let readings = 1; readings < maxReadings; readings += 1) {
      const entry = await readOnce(admin, { topic, groupId }, { isLast: readings === maxReadings - 1 })
      if (entry && before && entry.batchNumber === before.batchNumber && entry.token === before.token) return entry
      before = entry
      await sleep(agreeAfterMs)
    }
    throw new Error(
      `the ledger's entry of ${groupId} keeps changing: another deployment publishes with the same retry.transactional_id_prefix`,
    )
  } finally {
    await admin.disconnect()
  }
}

/** Null while the group's coordinator is being found or loaded. */
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
  if (entry === undefined || entry.offset === '-1') return { batchNumber: null, token: null }
  return { batchNumber: BigInt(entry.offset), token: entry.metadata || null }
}
