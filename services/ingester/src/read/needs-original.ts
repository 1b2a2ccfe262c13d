// Kafka's share groups (KIP-1191) write only the coordinates of the original record into a dead letter, unless copying
// is switched on. Its key and value must then be fetched from the original topic.

import type { Failure } from 'dlq-core/domain/failure/read-failure.ts'
import { replayHazard } from 'dlq-core/domain/failure/topic-names.ts'
import type { DeadLetterRecord } from 'dlq-core/domain/record/record.ts'
import type { RecordPlace } from 'dlq-core/domain/record/record-place.ts'

/** Whether `needsOriginal` may say so, by the bytes alone: nearly every record then needs no second reading of its headers. */
export function lacksBytes({ key, value, undecodable, unstoredValueBytes }: DeadLetterRecord): boolean {
  return key === null && value === null && undecodable === undefined && unstoredValueBytes === undefined
}

/**
 * The coordinates of a dead letter's original record. Null where nothing is missing, or where the coordinates name no
 * record: they are incomplete, or have a topic id in place of the topic's name.
 */
export function needsOriginal(
  { key, value }: Pick<DeadLetterRecord, 'key' | 'value'>,
  { family, context }: Pick<Failure, 'family' | 'context'>,
): RecordPlace | null {
  if (family !== 'share-group' || key !== null || value !== null) return null
  const { originalTopic: topic, originalPartition: partition, originalOffset: offset } = context
  if (topic === null || partition === null || partition < 0 || offset === null || offset < 0n) return null
  const hazard = replayHazard(topic, { source: 'header', dlqPatterns: [], partition, family })
  return hazard === 'unknown' || hazard === 'uuid' ? null : { topic, partition, offset }
}
