// Records like those that applications write: the sizes, and above all what repeats, were read off dead letters of
// spring-kafka. A topic fails at a few dozen places, each with its own frames; the messages name orders, so no two
// traces are equal. A tenth of the values is not JSON. The same number always gives the same record.

import type { Header } from 'dlq-core/domain/record/record.ts'
import { int32, int64 } from 'dlq-testing/rows/big-endian.ts'
import { type BenchRecord, benchRecord, type Random, randomFrom, words } from './dead-letters.ts'

/** Places at which a topic's consumer fails. */
const placesPerTopic = 36
const stacktraceBytes = 4500
const valueBytes = 1024

/** Record number `index` of the DLQ topic of `originalTopic`: 1 KB, nine headers, a stack trace of 4.5 KB. */
export function realRecord(index: number, { originalTopic }: { originalTopic: string }): BenchRecord {
  const random = randomFrom(index)
  const order = `order-${random(1e9).toString(36)}`
  const place = random(placesPerTopic)
  const message = `payment gateway refused ${order} after ${random(30)} s`
  const { key, value } = benchRecord(index, { originalTopic })
  const headers: Header[] = [
    ['traceparent', Buffer.from(`00-${hex(random, 32)}-${hex(random, 16)}-01`)],
    ['kafka_dlt-original-topic', Buffer.from(originalTopic)],
    ['kafka_dlt-original-partition', int32(index % 8)],
    ['kafka_dlt-original-offset', int64(BigInt(index))],
    ['kafka_dlt-original-consumer-group', Buffer.from('order-service')],
    ['kafka_dlt-exception-fqcn', Buffer.from('org.springframework.kafka.listener.ListenerExecutionFailedException')],
    ['kafka_dlt-exception-cause-fqcn', Buffer.from(errorClassOf(originalTopic, place))],
    ['kafka_dlt-exception-message', Buffer.from(`${listenerFailed}; ${message}`)],
    ['kafka_dlt-exception-stacktrace', Buffer.from(stacktrace({ originalTopic, place, order, message }))],
  ]
  return { key, value: index % 10 === 9 ? binaryValue(random) : value, headers }
}

/** The records of the benchmarks, by name. */
export const recordKinds = {
  real: { name: '1 KB, a tenth of it not JSON, 9 headers, stack traces of 4.5 KB from 36 places', make: realRecord },
  random: { name: '1 KB JSON, 6 headers and a 2 KB stack trace, all different', make: benchRecord },
} satisfies Record<string, { name: string; make: typeof realRecord }>

export type RecordKind = keyof typeof recordKinds

const listenerFailed =
  "Listener method 'public void com.example.orders.OrderListener.on(org.apache.kafka.clients.consumer.ConsumerRecord<byte[], byte[]>)' threw exception"

function errorClassOf(originalTopic: string, place: number): string {
  const name = words[place % words.length]!
  return `com.example.${packageOf(originalTopic)}.${name}.${name[0]!.toUpperCase()}${name.slice(1)}RefusedException`
}

function packageOf(originalTopic: string): string {
  return originalTopic.replace(/[^a-z]/g, '') || 'orders'
}

type Failure = { originalTopic: string; place: number; order: string; message: string }

/** A listener's failure, and two causes, of which the frames depend on the place alone. */
function stacktrace({ originalTopic, place, order, message }: Failure): string {
  const outer = frames('org.springframework.kafka.listener.KafkaMessageListenerContainer$ListenerConsumer', 0, 11)
  const restored = frames('org.springframework.kafka.listener.adapter.MessagingMessageListenerAdapter', 1, 5)
  const inner = `Caused by: java.io.IOException: POST https://pay.example.test/v1/charges failed for ${order}\n${frames('com.example.http.PaymentClient', place, 3)}\t... 26 more\n`
  const head =
    `org.springframework.kafka.listener.ListenerExecutionFailedException: ${listenerFailed}\n${outer}` +
    `\tSuppressed: org.springframework.kafka.listener.ListenerExecutionFailedException: Restored Stack Trace\n${restored.replaceAll('\tat', '\t\tat')}` +
    `Caused by: ${errorClassOf(originalTopic, place)}: ${message}\n`
  let own = ''
  for (let depth = 0; head.length + own.length + inner.length < stacktraceBytes - 60; depth++) {
    const name = words[(place + depth * 7) % words.length]!
    const type = `${name[0]!.toUpperCase()}${name.slice(1)}Service`
    own += `\tat com.example.${packageOf(originalTopic)}.${name}.${type}.handle${(place * 31 + depth) % 97}(${type}.java:${20 + ((place * 131 + depth * 17) % 880)})\n`
  }
  return `${head}${own}\t... 10 more\n${inner}`
}

function frames(type: string, place: number, count: number): string {
  const file = type.slice(type.lastIndexOf('.') + 1).replace(/\$.*/, '')
  return Array.from(
    { length: count },
    (_, at) => `\tat ${type}.${words[(place + at) % words.length]}Invoke(${file}.java:${(place + 1) * 37 + at * 71})\n`,
  ).join('')
}

/** As Avro with a schema id writes it. */
function binaryValue(random: Random): Buffer {
  const value = Buffer.alloc(valueBytes)
  for (let at = 5; at < valueBytes; at++) value[at] = random(256)
  value.writeInt32BE(42, 1)
  return value
}

function hex(random: Random, digits: number): string {
  return Array.from({ length: digits }, () => random(16).toString(16)).join('')
}
