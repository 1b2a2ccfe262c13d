// A dead letter as Spring Kafka's DeadLetterPublishingRecoverer writes it at a first and at a second
// failure: the record's own headers stay, the original coordinates are appended to those of an earlier
// failure, the exception replaces the earlier one (DeadLetterRecordManager.java).
import type { Header } from 'dlq-core/domain/record/record.ts'
import { int32, int64 } from './big-endian.ts'

export type FailedRecord = {
  topic: string
  partition: number
  /** The values of the record that failed. */
  offset: bigint
  timestamp: bigint
  key: Buffer | null
  value: Buffer | null
  headers: readonly Header[]
  group: string
  error: Error
}

/** Key, value and headers to send to the DLQ topic. */
export function springDeadLetter({
  topic,
  partition,
  offset,
  timestamp,
  key,
  value,
  headers,
  group,
  error,
}: FailedRecord) {
  const original: Header[] = [
    ['kafka_dlt-original-topic', Buffer.from(topic)],
    ['kafka_dlt-original-partition', int32(partition)],
    ['kafka_dlt-original-offset', int64(offset)],
    ['kafka_dlt-original-timestamp', int64(timestamp)],
    ['kafka_dlt-original-timestamp-type', Buffer.from('CreateTime')],
    ['kafka_dlt-original-consumer-group', Buffer.from(group)],
  ]
  const exception: Header[] = [
    ['kafka_dlt-exception-fqcn', Buffer.from('org.springframework.kafka.listener.ListenerExecutionFailedException')],
    ['kafka_dlt-exception-cause-fqcn', Buffer.from(error.name)],
    ['kafka_dlt-exception-message', Buffer.from(`Listener failed; ${error.message}`)],
    ['kafka_dlt-exception-stacktrace', Buffer.from(error.stack ?? '')],
  ]
  const replaced = new Set(exception.map(([name]) => name))
  return { key, value, headers: [...headers.filter(([name]) => !replaced.has(name)), ...original, ...exception] }
}

/** An offset that no retry reaches, because a dead letter from a retry's coordinates would be its re-failure. */
const farOffset = 1_000_000_000n

export type Numbered = Pick<FailedRecord, 'topic' | 'group'> & { partitions: number } & Partial<
    Pick<FailedRecord, 'key' | 'value' | 'headers'>
  >

/** The dead letter of the `n`-th of many records, which differ by their numbers unless they have contents of their own. */
export function numberedDeadLetter(n: number, { partitions, ...failed }: Numbered) {
  return springDeadLetter({
    partition: n % partitions,
    offset: farOffset + BigInt(n),
    timestamp: 1_700_000_000_000n + BigInt(n),
    key: Buffer.from(`${n}`),
    value: Buffer.from(`{"n":${n}}`),
    headers: [],
    error: Object.assign(new Error(`failure ${n}`), { name: 'com.example.Failure' }),
    ...failed,
  })
}
