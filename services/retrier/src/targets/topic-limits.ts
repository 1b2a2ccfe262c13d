// What a topic takes, as its configuration says. Records that it would refuse are found before they are sent, because
// one refused record makes the whole transaction fail, and all others in it are sent again.
// The broker's checks: org.apache.kafka.storage.internals.log.LogValidator and UnifiedLog.

import type { Header } from 'dlq-core/domain/record/record.ts'
import { readTopicSettings, type SettingValues } from 'dlq-core/runtime/kafka/questions/read-topic-settings.ts'
import type { Admin } from 'kafkajs'
import { readKafkaFault } from '../publish/kafka-fault.ts'

export type TopicLimits = {
  /** Infinity where nothing is deleted by age. */
  readonly retentionMs: number
  /** Of one batch as it is sent, uncompressed; Infinity where it is not known. */
  readonly maxBatchBytes: number
  /** A compacted topic takes no record without a key. */
  readonly needsKey: boolean
  /** How far a record's time may be from the broker's clock; null where the broker sets the time itself. */
  readonly times: { readonly pastMs: number; readonly aheadMs: number } | null
}

/** Of a topic whose configuration we may not read: Kafka's default retention, and no other limit. */
export const unknownLimits: TopicLimits = {
  retentionMs: 7 * 86_400_000,
  maxBatchBytes: Number.POSITIVE_INFINITY,
  needsKey: false,
  times: { pastMs: Number.POSITIVE_INFINITY, aheadMs: Number.POSITIVE_INFINITY },
}

const settingNames = [
  'retention.ms',
  'cleanup.policy',
  'max.message.bytes',
  'message.timestamp.type',
  'message.timestamp.before.max.ms',
  'message.timestamp.after.max.ms',
  // Brokers before 3.6 have this one instead; 4.0 has dropped it.
  'message.timestamp.difference.max.ms',
]

/** Asks for all topics at once. A topic that we may not ask about is left out; also each one where Kafka does not answer. */
export async function readTopicLimits(admin: Admin, topics: readonly string[]): Promise<Map<string, TopicLimits>> {
  if (topics.length === 0) return new Map()
  try {
    const settings = await readTopicSettings(admin, topics, settingNames)
    return new Map([...settings].map(([topic, values]) => [topic, toLimits(values)]))
  } catch (error) {
    if (topics.length === 1 || readKafkaFault(error as Error).type === null) return new Map()
    // kafkajs drops the whole answer where one topic is forbidden.
    const middle = topics.length >> 1
    const halves = [topics.slice(0, middle), topics.slice(middle)].map((half) => readTopicLimits(admin, half))
    return new Map((await Promise.all(halves)).flatMap((half) => [...half]))
  }
}

/** What the settings of a topic's configuration say; Kafka's default for each that is missing. */
export function toLimits(settings: SettingValues): TopicLimits {
  const numberOf = (name: string) => {
    const value = settings.get(name)
    return value === undefined || value === null || value === '' ? null : Number(value)
  }
  const cleanup = (settings.get('cleanup.policy') ?? 'delete').split(',').map((policy) => policy.trim())
  const retentionMs = numberOf('retention.ms') ?? unknownLimits.retentionMs
  const differenceMs = numberOf('message.timestamp.difference.max.ms') ?? Number.POSITIVE_INFINITY
  return {
    retentionMs: !cleanup.includes('delete') || retentionMs < 0 ? Number.POSITIVE_INFINITY : retentionMs,
    maxBatchBytes: numberOf('max.message.bytes') ?? unknownLimits.maxBatchBytes,
    needsKey: cleanup.includes('compact'),
    times:
      settings.get('message.timestamp.type') === 'LogAppendTime'
        ? null
        : {
            pastMs: setOr(numberOf('message.timestamp.before.max.ms'), differenceMs),
            aheadMs: setOr(numberOf('message.timestamp.after.max.ms'), differenceMs),
          },
  }
}

/** Kafka's default is the greatest number of 64 bits. From 3.6 to 3.9 the older setting then still counts. */
function setOr(value: number | null, olderSetting: number): number {
  return value === null || value >= 2 ** 63 ? olderSetting : value
}

export type CheckedRecord = {
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: readonly Header[]
  /** Milliseconds since 1970, as text; undefined for the present. */
  readonly timestamp: string | undefined
}

/** `doubtful`: only the broker can say, because its clock may differ from ours. */
export type RecordCheck = { kind: 'fits' } | { kind: 'doubtful' } | { kind: 'refused'; reason: string }

/** Clocks of brokers and of ours may differ by this much. */
const clockMarginMs = 60_000

/** Whether the topic takes the record. */
export function checkRecord(limits: TopicLimits, record: CheckedRecord, now: Date): RecordCheck {
  if (bytesAlone(record) > limits.maxBatchBytes)
    return { kind: 'refused', reason: 'the record is larger than the topic allows (max.message.bytes)' }
  if (limits.needsKey && record.key === null)
    return { kind: 'refused', reason: 'a compacted topic takes no record without key (cleanup.policy)' }
  if (limits.times === null || record.timestamp === undefined) return { kind: 'fits' }
  const { pastMs, aheadMs } = limits.times
  const ageMs = now.getTime() - Number(record.timestamp)
  const setting = ageMs < 0 ? 'message.timestamp.after.max.ms' : 'message.timestamp.before.max.ms'
  const beyondMs = Math.max(ageMs - pastMs, -ageMs - aheadMs)
  if (beyondMs <= -clockMarginMs) return { kind: 'fits' }
  if (beyondMs < clockMarginMs) return { kind: 'doubtful' }
  return { kind: 'refused', reason: `the record’s timestamp is outside what the topic allows (${setting})` }
}

/** The header of a record batch (https://kafka.apache.org/documentation/#recordbatch). */
const batchHeaderBytes = 61

/** The bytes of a batch that has only this record, exactly as kafkajs encodes it. */
export function bytesAlone({ key, value, headers }: Omit<CheckedRecord, 'timestamp'>): number {
  // One byte each for the attributes, the timestamp's delta and the offset's delta.
  let bytes = 3 + bytesOf(key) + bytesOf(value) + sizeOfVarInt(headers.length)
  for (const [name, value] of headers) {
    const nameBytes = Buffer.byteLength(name)
    bytes += sizeOfVarInt(nameBytes) + nameBytes + bytesOf(value)
  }
  return batchHeaderBytes + sizeOfVarInt(bytes) + bytes
}

/** Null has the length -1. */
function bytesOf(bytes: Buffer | null): number {
  return bytes === null ? 1 : sizeOfVarInt(bytes.length) + bytes.length
}

/** Of a number that is not negative, in the zigzag encoding: seven bits a byte, and one bit for the sign. */
function sizeOfVarInt(value: number): number {
  let size = 1
  for (let rest = value; rest >= 64; rest = Math.floor(rest / 128)) size += 1
  return size
}
