// A dead letter as Spring Kafka's DeadLetterPublishingRecoverer writes it: the record as it was, the
// original coordinates as big-endian integers, the exception as text.

import type { Header } from 'dlq-core/record.ts'
import type { KafkaMessage } from 'kafkajs'

export type FailedRecord = { topic: string; partition: number; group: string; message: KafkaMessage; error: Error }

/** Key, value and headers to send to the DLQ topic. */
export function springDeadLetter({ topic, partition, group, message, error }: FailedRecord) {
  const { key, value, offset, timestamp, headerPairs = [] } = message
  const context: Header[] = [
    ['kafka_dlt-original-topic', Buffer.from(topic)],
    ['kafka_dlt-original-partition', int32(partition)],
    ['kafka_dlt-original-offset', int64(offset)],
    ['kafka_dlt-original-timestamp', int64(timestamp)],
    ['kafka_dlt-original-timestamp-type', Buffer.from('CreateTime')],
    ['kafka_dlt-original-consumer-group', Buffer.from(group)],
    ['kafka_dlt-exception-fqcn', Buffer.from('org.springframework.kafka.listener.ListenerExecutionFailedException')],
    ['kafka_dlt-exception-cause-fqcn', Buffer.from(error.name)],
    ['kafka_dlt-exception-message', Buffer.from(error.message)],
    ['kafka_dlt-exception-stacktrace', Buffer.from(error.stack ?? '')],
  ]
  return { key, value, headers: [...headerPairs, ...context] }
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

function int64(value: string): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64BE(BigInt(value))
  return bytes
}
