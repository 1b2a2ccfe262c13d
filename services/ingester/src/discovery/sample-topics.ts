// Answers the requests of the API for a sample of a topic: its newest and its oldest records, as they describe their
// failures. No key and no value leaves the ingester.

import { type Sample, sampleRecord } from 'dlq-core/domain/discovery/sample.ts'
import type { TopicMapping } from 'dlq-core/domain/failure/topic-names.ts'
import type { DeadLetterRecord } from 'dlq-core/domain/record/record.ts'
import { answerSample, takeSampleRequest } from 'dlq-core/queries/discovery/samples.ts'
import type { LogBounds } from 'dlq-core/queries/ingest/topic-partitions.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import { askTogether } from 'dlq-core/runtime/kafka/refusals.ts'
import type { TopicReader } from 'dlq-core/runtime/kafka/topic-reader.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import { toRecord } from '../consume/fetched-records.ts'

export type SampleDeps = {
  reader: Pick<TopicReader, 'fetchLogBounds' | 'fetchRecords'>
  sql: Database
  log: Log
  mappings: readonly TopicMapping[]
}

const perEnd = 20
/** Each costs two fetches. */
const partitionsRead = 12
const maxBytes = 256 * 1024

/** Answers one request, if there is any. */
export async function answerSamples(deps: SampleDeps, cluster: string): Promise<{ more: boolean }> {
  const { sql } = deps
  const request = await takeSampleRequest(sql, { cluster })
  if (request === null) return { more: false }
  await answerSample(sql, { id: request.id, answer: JSON.stringify(await readSample(deps, { ...request, cluster })) })
  return { more: true }
}

async function readSample(
  { reader, log, mappings }: SampleDeps,
  { topic, cluster }: { topic: string; cluster: string },
): Promise<Sample> {
  const bounds = await askTogether([topic], reader.fetchLogBounds, log)
  const filled = bounds.filter((of) => of.log_end_offset > of.log_start_offset).slice(0, partitionsRead)
  const ends: DeadLetterRecord[][] = []
  let refused = bounds.length === 0
  for (const of of filled) {
    const { log_start_offset: start, log_end_offset: end } = of
    const last = end - BigInt(perEnd) > start ? end - BigInt(perEnd) : start
    try {
      const first = await read(reader, { of, cluster, offset: start })
      ends.push(first.slice(0, perEnd), (await read(reader, { of, cluster, offset: last })).slice(-perEnd))
    } catch (error) {
      refused = true
      log.info({ topic, partition: of.partition, error }, 'sample_failed')
    }
  }
  const byTime = (a: DeadLetterRecord, b: DeadLetterRecord) =>
    a.timestamp === b.timestamp ? 0 : a.timestamp < b.timestamp ? -1 : 1
  const records = [...new Map(ends.flat().map((record) => [`${record.partition}/${record.offset}`, record])).values()]
  const sorted = records.toSorted(byTime)
  const shown = (some: readonly DeadLetterRecord[]) => some.map((record) => sampleRecord(record, mappings))
  // A record that stands at both ends is shown once, as an old one.
  const oldest = sorted.slice(0, perEnd)
  const newest = sorted.slice(perEnd).slice(-perEnd).toReversed()
  return { readable: !refused, oldest: shown(oldest), newest: shown(newest) }
}

async function read(
  reader: SampleDeps['reader'],
  { of: { topic, partition }, cluster, offset }: { of: LogBounds; cluster: string; offset: bigint },
): Promise<DeadLetterRecord[]> {
  const fetched = await reader.fetchRecords({ topic, partition, offset, maxBytes })
  if (fetched.kind !== 'records') return []
  const place = { cluster, topic, partition }
  return fetched.messages.flatMap((message) => (message.undecodable ? [] : [toRecord(message, place)]))
}
