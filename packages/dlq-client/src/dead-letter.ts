// A Kafka consumer calls this when it gives a record up. The record is written unchanged to its DLQ topic, with
// headers for the error, the record's coordinates and the consumer group. Nothing here needs a library: kafkajs
// and its forks fit, because only their shapes are used.

import { type CutErrors, describeError } from './describe-error.ts'

export type Bytes = Buffer | string
export type KafkaHeaders = Record<string, Bytes | (Bytes | null)[] | null | undefined>

/** A record as kafkajs passes it to `eachMessage`. */
export type ConsumedRecord = {
  topic: string
  partition: number
  message: {
    offset: string
    timestamp: string
    key?: Buffer | null
    value?: Buffer | null
    headers?: KafkaHeaders | undefined
  }
}

export type DeadLetterRecord = {
  topic: string
  /** All replicas: afterwards the consumer commits the offset, and only the dead letter remains. */
  acks: -1
  messages: [{ key: Buffer | null; value: Buffer | null; headers: Record<string, Bytes | Bytes[]> }]
}

export type DeadLetterProducer = { send(record: DeadLetterRecord): Promise<unknown> }

export type DeadLetterOptions = {
  /** The thrown value, of any type. */
  error: unknown
  consumerGroup: string
  /** Default: the record's topic followed by ".dlq.v1". */
  dlqTopic?: string
  /** How often the consumer has tried. */
  attempts?: number
  /**
   * The format of the failure headers: ours, Spring Kafka's ("kafka_dlt-…", for other tools), or one header
   * "error" with the error's text. dlq-manager reads all of them; ours say most.
   */
  format?: 'dlq-manager' | 'spring' | 'error'
  /** The size limit of the whole record, in bytes. Default 1,000,000, which is below Kafka's default of message.max.bytes. */
  maxBytes?: number
} & Partial<CutErrors>

/**
 * Sends the record to its DLQ topic. Rejects if Kafka does not take it. Let the rejection leave `eachMessage`: the
 * offset is then not committed, and Kafka delivers the record again.
 */
export async function deadLetter(
  producer: DeadLetterProducer,
  record: ConsumedRecord,
  options: DeadLetterOptions,
): Promise<void> {
  await producer.send(toDeadLetter(record, options))
}

/** The same without sending it. */
export function toDeadLetter(record: ConsumedRecord, options: DeadLetterOptions): DeadLetterRecord {
  const { topic, message } = record
  const { key = null, value = null } = message
  const { error, dlqTopic = `${topic}.dlq.v1`, format = 'dlq-manager', maxBytes = 1_000_000 } = options
  const failure = describeError(error, options)
  const kept = keptOf(message.headers ?? {})
  const headersWith = (stack: string) => ({
    ...kept,
    ...writers[format](record, options, { ...failure, stack }),
  })
  // The record itself may be as large as its topic allows; then only the stack trace can be omitted.
  const size = (key?.length ?? 0) + (value?.length ?? 0)
  const full = headersWith(failure.stack)
  const headers = size + sizeOf(full) <= maxBytes ? full : headersWith('')
  return { topic: dlqTopic, acks: -1, messages: [{ key, value, headers }] }
}

type Failure = ReturnType<typeof describeError>
type Headers = Record<string, Bytes | Bytes[]>

/** infra/docs/architecture.md, and packages/dlq-core/src/domain/failure/families/own.ts, which reads them. */
export const headerNames = {
  topic: 'dlq-original-topic',
  partition: 'dlq-original-partition',
  offset: 'dlq-original-offset',
  timestamp: 'dlq-original-timestamp',
  consumerGroup: 'dlq-consumer-group',
  errorClass: 'dlq-error-class',
  errorMessage: 'dlq-error-message',
  errorStacktrace: 'dlq-error-stacktrace',
  attempts: 'dlq-attempts',
} as const
/** Replaces the headers of an earlier failure. "dlq-message-id" and its companions stay: they identify a re-failure. */
const ownNames: ReadonlySet<string> = new Set(Object.values(headerNames))

const writers: Record<
  NonNullable<DeadLetterOptions['format']>,
  (record: ConsumedRecord, options: DeadLetterOptions, failure: Failure) => Headers
> = {
  'dlq-manager': ({ topic, partition, message }, { consumerGroup, attempts }, { name, text, stack }) => ({
    [headerNames.topic]: topic,
    [headerNames.partition]: String(partition),
    [headerNames.offset]: message.offset,
    [headerNames.timestamp]: message.timestamp,
    [headerNames.consumerGroup]: consumerGroup,
    [headerNames.errorClass]: name,
    [headerNames.errorMessage]: text,
    ...(stack !== '' && { [headerNames.errorStacktrace]: stack }),
    ...(attempts !== undefined && { [headerNames.attempts]: String(attempts) }),
  }),

  spring: ({ topic, partition, message }, { consumerGroup }, { name, text, stack }) => ({
    'kafka_dlt-original-topic': topic,
    'kafka_dlt-original-partition': bigEndian(4, BigInt(partition)),
    'kafka_dlt-original-offset': bigEndian(8, BigInt(message.offset)),
    'kafka_dlt-original-timestamp': bigEndian(8, BigInt(message.timestamp)),
    'kafka_dlt-original-timestamp-type': 'CreateTime',
    'kafka_dlt-original-consumer-group': consumerGroup,
    'kafka_dlt-exception-fqcn': name,
    'kafka_dlt-exception-message': text,
    ...(stack !== '' && { 'kafka_dlt-exception-stacktrace': stack }),
  }),

  error: (_record, _options, { name, text }) => ({ error: name === 'Error' ? text : `${name}: ${text}` }),
}

function bigEndian(bytes: 4 | 8, value: bigint): Buffer {
  const buffer = Buffer.alloc(bytes)
  if (bytes === 4) buffer.writeInt32BE(Number(value))
  else buffer.writeBigInt64BE(value)
  return buffer
}

/** A header without a value is null: kafkajs reads and writes null, although its types omit it. */
function keptOf(headers: KafkaHeaders): Headers {
  const kept = Object.entries(headers).filter(([name, value]) => value !== undefined && !ownNames.has(name))
  return Object.fromEntries(kept) as Headers
}

function sizeOf(headers: Headers): number {
  const sizes = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((value) => name.length + Buffer.byteLength(value ?? '') + 10),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}
