// Asks Kafka what stands in topics that look like DLQ topics and that nobody ingests. Only candidates are asked about, a
// few at a time, and nothing of their records is stored but times and whose headers they have.

import { readFailure } from 'dlq-core/domain/failure/read-failure.ts'
import {
  type LookedAtCandidate,
  recordCandidateLooks,
  takeCandidatesToLookAt,
} from 'dlq-core/queries/discovery/candidates.ts'
import type { LogBounds } from 'dlq-core/queries/ingest/topic-partitions.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import { askTogether } from 'dlq-core/runtime/kafka/refusals.ts'
import type { TopicReader } from 'dlq-core/runtime/kafka/topic-reader.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import type { Admin, KafkaMessage } from 'kafkajs'
import { describeTopics } from '../watch/describe-topics.ts'

export type CandidateDeps = {
  admin: Pick<Admin, 'describeConfigs'>
  reader: Pick<TopicReader, 'fetchLogBounds' | 'fetchRecords'>
  sql: Database
  log: Log
}

const lookEveryMs = 5 * 60_000
const candidatesPerLook = 20
/** Of a topic with more, the first ones with records speak for all. */
const partitionsRead = 4
const oneBatch = 1
/** The newest record may stand before markers of transactions. */
const lastOffsets = 20n
const maxLastBytes = 64 * 1024
const latestTimestamp = Date.UTC(9000, 0)

/** A pass over the candidates that are due. Several ingesters share them. */
export async function lookAtCandidates(deps: CandidateDeps, cluster: string): Promise<{ more: boolean }> {
  const { admin, reader, sql, log } = deps
  const due = await takeCandidatesToLookAt(sql, { cluster, everyMs: lookEveryMs, limit: candidatesPerLook })
  if (due.length === 0) return { more: false }
  const bounds = await askTogether(due, reader.fetchLogBounds, log)
  const settings = await askTogether(due, (topics) => describeTopics(admin, topics), log)
  const looks: LookedAtCandidate[] = []
  for (const [topic, logs] of Map.groupBy(bounds, ({ topic }) => topic)) {
    const {
      retention_ms = null,
      retention_bytes = null,
      cleanup_policy = null,
    } = settings.find((of) => of.topic === topic) ?? {}
    const held = logs.reduce((sum, of) => sum + (of.log_end_offset - of.log_start_offset), 0n)
    const said = await readEnds(deps, logs)
    looks.push({
      ...{ topic, partitions: logs.length, records_at_most: held },
      ...{ ...said, retention_ms, retention_bytes, cleanup_policy },
    })
  }
  await recordCandidateLooks(sql, { cluster, looks })
  return { more: due.length === candidatesPerLook }
}

/** The times of the first and the last record, and whose headers one of them has. */
async function readEnds(
  { reader, log }: CandidateDeps,
  logs: readonly LogBounds[],
): Promise<Pick<LookedAtCandidate, 'oldest' | 'newest' | 'family'>> {
  const times: { oldest: number[]; newest: number[] } = { oldest: [], newest: [] }
  let family: string | null = null
  const filled = logs.filter((of) => of.log_end_offset > of.log_start_offset).slice(0, partitionsRead)
  for (const { topic, partition, log_start_offset: start, log_end_offset: end } of filled) {
    const last = end - lastOffsets > start ? end - lastOffsets : start
    try {
      const first = await reader.fetchRecords({ topic, partition, offset: start, maxBytes: oneBatch })
      const recent = await reader.fetchRecords({ topic, partition, offset: last, maxBytes: maxLastBytes })
      const oldest = first.kind === 'records' ? first.messages[0] : undefined
      const newest = recent.kind === 'records' ? recent.messages.at(-1) : undefined
      if (oldest) times.oldest.push(...timeOf(oldest))
      if (newest) times.newest.push(...timeOf(newest))
      for (const message of [newest, oldest]) if (message) family ??= familyOf(topic, message)
    } catch (error) {
      log.debug({ topic, partition, error }, 'look_failed')
    }
  }
  const pick = (of: number[], best: (...all: number[]) => number) => (of.length === 0 ? null : best(...of))
  return { oldest: pick(times.oldest, Math.min), newest: pick(times.newest, Math.max), family }
}

function timeOf({ timestamp }: KafkaMessage): number[] {
  const time = Number(timestamp)
  return time >= 0 && time <= latestTimestamp ? [time] : []
}

function familyOf(topic: string, { timestamp, headerPairs, value, undecodable }: KafkaMessage): string | null {
  if (undecodable) return null
  return readFailure({ topic, timestamp: BigInt(timestamp), headers: headerPairs, value }).family
}
