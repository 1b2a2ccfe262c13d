// Fetches the original record of dead letters without bytes: share groups write only its coordinates (KIP-1191). A dead
// letter whose original cannot be fetched is marked, so that its row can say so.

import { readFailure } from 'dlq-core/domain/failure/read-failure.ts'
import type { FetchedOriginal } from 'dlq-core/domain/origin/compare-origin.ts'
import type { DeadLetterRecord } from 'dlq-core/domain/record/record.ts'
import { placeKey, type RecordPlace } from 'dlq-core/domain/record/record-place.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import { fetchOriginals } from 'dlq-core/runtime/fetching/fetch-originals.ts'
import type { TopicReader } from 'dlq-core/runtime/kafka/topic-reader.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import type { RouteRegister } from '../registers/route-register.ts'
import { lacksBytes, needsOriginal } from './needs-original.ts'
import { withinBounds } from './value-bounds.ts'

/** The same records; those that only pointed to their original carry its key, value and headers. */
export async function completeRecords(
  {
    sql,
    reader,
    routes,
    log,
    maxValueBytes,
  }: {
    sql: Sql
    reader: Pick<TopicReader, 'fetchRecords'>
    routes: Pick<RouteRegister, 'testOf'>
    log: Log
    maxValueBytes: number
  },
  records: readonly DeadLetterRecord[],
): Promise<readonly DeadLetterRecord[]> {
  const origins = new Map<DeadLetterRecord, RecordPlace>()
  for (const record of records) {
    if (!lacksBytes(record)) continue
    const origin = needsOriginal(record, readFailure(record))
    if (origin) origins.set(record, origin)
  }
  if (origins.size === 0) return records
  const routeOf = (record: DeadLetterRecord, { topic }: RecordPlace) => ({
    dlq_topic: record.topic,
    original_topic: topic,
  })
  const isOpen = await routes.testOf(
    sql,
    [...origins].map(([record, origin]) => routeOf(record, origin)),
  )
  const allowed = [...origins].filter(([record, origin]) => isOpen(routeOf(record, origin)))
  const originals = await fetchOriginals(
    reader,
    allowed.map(([, origin]) => origin),
    { log },
  )
  return records.map((record) => {
    const origin = origins.get(record)
    if (!origin) return record
    // Else whoever writes a DLQ topic could have any topic read, and see what stands there.
    if (!isOpen(routeOf(record, origin))) return { ...record, original: 'not-allowed' }
    return withinBounds(complete(record, originals.get(placeKey(origin)) ?? 'unreachable'), maxValueBytes)
  })
}

function complete(record: DeadLetterRecord, original: FetchedOriginal): DeadLetterRecord {
  if (typeof original === 'string') return { ...record, original }
  const { key, value, headers } = original
  // The failure's headers come last, as every framework appends them.
  return { ...record, key, value, headers: [...headers, ...record.headers], original: 'fetched' }
}
