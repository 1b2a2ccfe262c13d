// A log that Kafka has cut: an election chose a broker that lacked the newest records (unclean.leader.election.enable). What
// was read of them is stored. But the new leader writes other records at their offsets, which stand below our position.

import { cutPosition, type PartitionOf } from 'dlq-core/queries/ingest/positions.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import type { TopicReader } from 'dlq-core/runtime/kafka/topic-reader.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import type { IngesterMetrics } from '../ingester-metrics.ts'
import type { SeenPosition } from '../store/store-batch.ts'

type Deps = {
  sql: Sql
  reader: Pick<TopicReader, 'fetchEpochEnd'>
  log: Log
  metrics: Pick<IngesterMetrics, 'cut'>
}

/**
 * Moves the position back to where the log was cut, and returns that. Null where it was not cut below the position, or
 * nobody can say: the epoch of the last record is not known, or Kafka has forgotten it.
 */
export async function readFromCut(
  { sql, reader, log, metrics }: Deps,
  { cluster, topic, partition }: PartitionOf,
  { seenOffset, epoch }: SeenPosition,
): Promise<bigint | null> {
  if (epoch === null) return null
  const end = await reader.fetchEpochEnd({ topic, partition, epoch })
  if (end === null || end.offset >= seenOffset) return null
  const moved = { seen_offset: seenOffset, next_offset: end.offset, leader_epoch: end.epoch }
  if (await cutPosition(sql, { cluster, topic, partition, ...moved })) {
    metrics.cut(topic)
    log.error({ topic, partition, seenOffset, cutOffset: end.offset }, 'log_cut')
  }
  return end.offset
}
