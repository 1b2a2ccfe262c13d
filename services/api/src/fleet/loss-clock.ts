// The loss clock: how many records of a DLQ topic are not stored yet, and when Kafka's retention begins to delete them.

import type { IngestLag } from 'dlq-core/queries/ingest/topic-partitions.ts'
import * as v from 'valibot'
import { count } from '../messages/message-json.ts'
import { timestamp, timestampText } from '../messages/timestamp.ts'

const time = v.nullable(timestampText)

export const lossClockSchema = v.strictObject({
  lag: v.pipe(
    count,
    v.description('Offsets that Kafka holds and that are not stored; a few may be markers of transactions.'),
  ),
  lost: v.pipe(count, v.description('Offsets that retention deleted before they were stored.')),
  oldest_unread_at: v.pipe(
    time,
    v.description('The timestamp of the oldest waiting record; null where none waits or the timestamp is unknown.'),
  ),
  expires_at: v.pipe(
    time,
    v.description('When retention may delete that record; null also where the topic keeps records for ever.'),
  ),
  looked_at: v.pipe(
    time,
    v.description('When an ingester last read the topic’s log bounds. After a minute, no ingester is running.'),
  ),
  loss: v.pipe(
    v.nullable(v.string()),
    v.description('The same in words; null where no record waits and none is lost.'),
  ),
})

export const exampleLossClock = {
  lag: 41200,
  lost: 0,
  oldest_unread_at: '2026-02-13T13:40:00.000+00:00',
  expires_at: '2026-02-20T13:40:00.000+00:00',
  looked_at: '2026-02-20T10:30:00.000+00:00',
  loss: '41,200 records, first expires in 3 h 10 m',
}

export function lossClockJson(lag: IngestLag, now: Date) {
  const text = (at: Date | null) => at && timestamp(at)
  return {
    lag: Number(lag.lag),
    lost: Number(lag.lost),
    oldest_unread_at: text(lag.oldest_unread_at),
    expires_at: text(lag.expires_at),
    looked_at: text(lag.looked_at),
    loss: lossInWords(lag, now),
  }
}

/** "41,200 records, first expires in 3 h 10 m; 12 are lost". Null where no record waits and none is lost. */
export function lossInWords(
  { lag, lost, expires_at: expiresAt }: Pick<IngestLag, 'lag' | 'lost' | 'expires_at'>,
  now: Date,
): string | null {
  const leftMs = expiresAt && expiresAt.getTime() - now.getTime()
  const expiry =
    leftMs === null ? '' : leftMs <= 0 ? ', first may be gone already' : `, first expires in ${inWords(leftMs)}`
  const parts = [...(lag > 0n ? [`${records(lag)}${expiry}`] : []), ...(lost > 0n ? [`${records(lost)} lost`] : [])]
  return parts.length === 0 ? null : parts.join('; ')
}

function records(count: bigint): string {
  return `${count.toLocaleString('en-US')} ${count === 1n ? 'record' : 'records'}`
}

/** The two largest units: days and hours, hours and minutes, minutes, or less than one. */
function inWords(ms: number): string {
  const minutes = Math.floor(ms / 60_000)
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24]
  if (days > 0) return `${days} d ${hours} h`
  if (hours > 0) return `${hours} h ${minutes % 60} m`
  return minutes > 0 ? `${minutes} m` : 'less than 1 m'
}
