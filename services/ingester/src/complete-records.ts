// Gives dead letters without bytes the bytes of the record that failed: share groups write only where it
// stands (KIP-1191). What cannot be had is marked, so that the row can say so.

import { needsOriginal } from 'dlq-core/needs-original.ts'
import { readFailure } from 'dlq-core/read-failure.ts'
import type { Coordinates, DeadLetterRecord } from 'dlq-core/record.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import type { Admin } from 'kafkajs'
import { type FetchedOriginal, fetchOriginals, originalKey } from './fetch-originals.ts'

/** The same records; those that only pointed to their original carry its key, value and headers. */
export async function completeRecords(
  { admin, log }: { admin: Pick<Admin, 'fetchRecords'>; log: Log },
  records: readonly DeadLetterRecord[],
): Promise<readonly DeadLetterRecord[]> {
  const origins = new Map<DeadLetterRecord, Coordinates>()
  for (const record of records) {
    // Asked first, because it spares nearly every record a second reading of its headers.
    if (record.key !== null || record.value !== null || record.undecodable !== undefined) continue
    const origin = needsOriginal(record, readFailure(record))
    if (origin) origins.set(record, origin)
  }
  if (origins.size === 0) return records
  const originals = await fetchOriginals(admin, [...origins.values()], { log })
  return records.map((record) => {
    const origin = origins.get(record)
    return origin ? complete(record, originals.get(originalKey(origin)) ?? 'unreachable') : record
  })
}

function complete(record: DeadLetterRecord, original: FetchedOriginal): DeadLetterRecord {
  if (typeof original === 'string') return { ...record, original }
  const { key, value, headers } = original
  // The failure's headers come last, as every framework appends them.
  return { ...record, key, value, headers: [...headers, ...record.headers], original: 'fetched' }
}
