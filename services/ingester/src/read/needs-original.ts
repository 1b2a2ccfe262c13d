// Kafka's share groups (KIP-1191) write dead letters without key and value, unless copying is switched
// on: only the coordinates of the original record. What failed must then be fetched from its topic.

import type { Failure } from './read-failure.ts'
import type { Coordinates, DeadLetterRecord } from './record.ts'
import { replayHazard } from './topic-names.ts'

/**
 * Where the original of a dead letter is to be fetched from, or null where nothing is missing or the
 * coordinates are no record's: incomplete, or with a topic id in place of the topic's name.
 */
export function needsOriginal(
  { key, value }: Pick<DeadLetterRecord, 'key' | 'value'>,
  { family, context }: Pick<Failure, 'family' | 'context'>,
): Coordinates | null {
  if (family !== 'share-group' || key !== null || value !== null) return null
  const { originalTopic: topic, originalPartition: partition, originalOffset: offset } = context
  if (topic === null || partition === null || partition < 0 || offset === null || offset < 0n) return null
  const hazard = replayHazard(topic, { source: 'header', dlqPatterns: [], partition, family })
  return hazard === 'unknown' || hazard === 'uuid' ? null : { topic, partition, offset }
}
