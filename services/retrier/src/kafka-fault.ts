// What a fault of Kafka means for the record that met it.

/** The protocol's error names (org.apache.kafka.common.protocol.Errors) that a record's own nature causes. */
const permanentFaults: Readonly<Record<string, string>> = {
  MESSAGE_TOO_LARGE: 'the record is larger than the topic allows (max.message.bytes)',
  RECORD_LIST_TOO_LARGE: 'the record is larger than the broker allows (segment.bytes)',
  UNKNOWN_TOPIC_OR_PARTITION: 'the topic does not exist',
  INVALID_TOPIC_EXCEPTION: 'the topic name is not a legal one',
  TOPIC_AUTHORIZATION_FAILED: 'the retrier may not write to the topic (ACL: Write on the topic)',
  INVALID_RECORD: 'the broker says that the record is invalid for the topic (a compacted topic takes no record without key)',
  CORRUPT_MESSAGE: 'the broker says that the record is corrupt',
  INVALID_TIMESTAMP: 'the record’s timestamp is outside what the topic allows',
  UNSUPPORTED_FOR_MESSAGE_FORMAT: 'the topic’s message format cannot hold the record’s headers',
  POLICY_VIOLATION: 'the broker’s policy forbids the record',
}

export type KafkaFault = {
  error: Error
  /** The protocol's name of the error, where the broker answered. */
  type: string | null
  /** In words, where the record itself is refused; null for an outage, which is nobody's fault. */
  refusal: string | null
}

/** Looks through kafkajs's wrappers (retries exceeded, non-retriable) for what the broker said. */
export function readKafkaFault(error: Error): KafkaFault {
  for (let inner: unknown = error, depth = 0; inner instanceof Error && depth < 5; depth += 1) {
    const { type, cause, originalError } = inner as Error & { type?: string; originalError?: unknown }
    if (type !== undefined) return { error, type, refusal: permanentFaults[type] ?? null }
    inner = cause ?? originalError
  }
  return { error, type: null, refusal: null }
}
