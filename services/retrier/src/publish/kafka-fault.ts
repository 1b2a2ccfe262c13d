// Decides what to do with a record after an error of Kafka.

/** The protocol's error names (org.apache.kafka.common.protocol.Errors) that a record's own nature causes. */
const permanentFaults: Readonly<Record<string, string>> = {
  MESSAGE_TOO_LARGE: 'the record is larger than the topic allows (max.message.bytes)',
  RECORD_LIST_TOO_LARGE: 'the record is larger than the broker allows (segment.bytes)',
  UNKNOWN_TOPIC_OR_PARTITION: 'the topic does not exist',
  INVALID_TOPIC_EXCEPTION: 'the topic name is not a legal one',
  TOPIC_AUTHORIZATION_FAILED: 'the retrier may not write to the topic (ACL: Write on the topic)',
  INVALID_RECORD:
    'the broker says that the record is invalid for the topic (a compacted topic takes no record without key)',
  CORRUPT_MESSAGE: 'the broker says that the record is corrupt',
  INVALID_TIMESTAMP: 'the record’s timestamp is outside what the topic allows',
  UNSUPPORTED_FOR_MESSAGE_FORMAT: 'the topic’s message format cannot hold the record’s headers',
  POLICY_VIOLATION: 'the broker’s policy forbids the record',
}

/** Faults of the topic: every record for it is refused. */
const topicFaults = new Set(['UNKNOWN_TOPIC_OR_PARTITION', 'INVALID_TOPIC_EXCEPTION', 'TOPIC_AUTHORIZATION_FAILED'])

export type KafkaFault = {
  error: Error
  /** The protocol's name of the error, where the broker answered. */
  type: string | null
  /** The reason in words, where the record itself is refused; null for an outage. */
  refusal: string | null
  /** Every other record for the topic is refused too. */
  refusesTopic: boolean
  isCoordinatorUnknown: boolean
}

type Wrapping = { type?: string; partition?: number; originalError?: unknown; errors?: readonly unknown[] }

/** Looks through kafkajs's wrappers (retries exceeded, non-retriable) for the broker's answer. */
export function readKafkaFault(error: Error): KafkaFault {
  const none: KafkaFault = { error, type: null, refusal: null, refusesTopic: false, isCoordinatorUnknown: false }
  for (let inner: unknown = error, depth = 0; inner instanceof Error && depth < 5; depth += 1) {
    const { type, partition, cause, originalError, errors } = inner as Error & Wrapping
    if (type !== undefined) {
      return { ...none, type, refusal: permanentFaults[type] ?? null, refusesTopic: topicFaults.has(type) }
    }
    // Of kafkajs itself (patches/README.md, 0014): the topic was created again with fewer, since its partitions were read.
    if (partition !== undefined) return { ...none, type: 'UNKNOWN_TOPIC_OR_PARTITION' }
    if (inner.name === 'KafkaJSGroupCoordinatorNotFound') return { ...none, isCoordinatorUnknown: true }
    inner = originalError ?? cause ?? errors?.[0]
  }
  return none
}

/** Clocks that are kept right differ by milliseconds. */
const wrongClockMs = 60_000

/**
 * The fault as it is, unless Kafka refuses the present time of a process whose clock is wrong: that is no fault of the
 * records, and another retrier may send them.
 */
export function blameClock(
  fault: KafkaFault,
  records: readonly { timestamp: string | undefined }[],
  clockAheadMs: () => number = () => 0,
): KafkaFault {
  if (fault.type !== 'INVALID_TIMESTAMP' || records.some(({ timestamp }) => timestamp !== undefined)) return fault
  const aheadMs = clockAheadMs()
  if (Math.abs(aheadMs) < wrongClockMs) return fault
  const way = aheadMs > 0 ? 'ahead of' : 'behind'
  const seconds = Math.round(Math.abs(aheadMs) / 1000)
  const error = new Error(`Kafka refuses this retrier's time, which is ${seconds} s ${way} PostgreSQL's`, {
    cause: fault.error,
  })
  return { ...fault, refusal: null, error }
}

/**
 * Says what the cluster's administrator has to allow or set, where the broker forbids transactions or the ledger.
 * Null for any other fault. ACLs: https://kafka.apache.org/documentation/#operations_resources_and_protocols
 */
export function kafkaAdvice(
  error: Error,
  { prefix, ledgerTopic }: { prefix: string; ledgerTopic: string },
): string | null {
  const orElse = 'or set retry.delivery to at-least-once'
  const fault = readKafkaFault(error)
  // Transactions and groups are refused first when the coordinator is looked up, and kafkajs drops that answer.
  if (fault.isCoordinatorUnknown) {
    return `the cluster names no coordinator. If that lasts, it forbids the transactional ids or the ledger's groups: allow Describe and Write on TransactionalId ${prefix}- (prefixed) and Read on Group ${prefix}-ledger- (prefixed), ${orElse}`
  }
  switch (fault.type) {
    case 'TRANSACTIONAL_ID_AUTHORIZATION_FAILED':
      return `the cluster forbids the transactional ids ${prefix}-*: allow Describe and Write on TransactionalId ${prefix}- (prefixed), ${orElse}`
    case 'GROUP_AUTHORIZATION_FAILED':
      return `the cluster forbids the ledger's groups: allow Read on Group ${prefix}-ledger- (prefixed), ${orElse}`
    case 'TOPIC_AUTHORIZATION_FAILED':
      return `the cluster forbids the ledger: allow Read and Describe on Topic ${ledgerTopic}, and Create or create it yourself (1 partition, cleanup.policy=compact), ${orElse}`
    case 'CLUSTER_AUTHORIZATION_FAILED':
      return `the cluster forbids creating the ledger or writing idempotently: allow Create on Topic ${ledgerTopic} and IdempotentWrite on the cluster, ${orElse}`
    case 'INVALID_PRODUCER_EPOCH':
      return `another producer took a transactional id of ${prefix}-*, as after this process or a transaction stood still for long; if it comes again and again, give each deployment on the cluster its own retry.transactional_id_prefix`
    case 'INVALID_TRANSACTION_TIMEOUT':
      return `the brokers' transaction.max.timeout.ms is below a minute: raise it, ${orElse}`
    case 'INVALID_REPLICATION_FACTOR':
      return `the ledger ${ledgerTopic} cannot be created with the brokers' default.replication.factor: create it yourself (1 partition, cleanup.policy=compact)`
    case 'POLICY_VIOLATION':
      return `the brokers' create.topic.policy refuses the ledger: create ${ledgerTopic} yourself (1 partition, cleanup.policy=compact)`
    default:
      return null
  }
}
