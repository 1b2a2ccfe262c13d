// The records of the benchmarks: dead letters as Spring's DeadLetterPublishingRecoverer writes them for an order that
// could not be processed. The same number always gives the same record.

import type { Header } from 'dlq-core/domain/record/record.ts'
import { int32, int64 } from 'dlq-testing/rows/big-endian.ts'

export type BenchRecord = { key: Buffer; value: Buffer; headers: Header[] }

const valueBytes = 1024
const stacktraceBytes = 2048
/** The words of all texts. */
export const words = [
  'carrier',
  'pallet',
  'invoice',
  'northern',
  'express',
  'fragile',
  'standard',
  'customs',
  'retour',
  'depot',
]

/** Record number `index`: a JSON order of 1 KB, six headers, and a stack trace of 2 KB. */
export function benchRecord(index: number, { originalTopic }: { originalTopic: string }): BenchRecord {
  const random = randomFrom(index)
  const message = `stock of item ${1000 + random(9000)} is ${random(50)}, wanted ${51 + random(50)}`
  return {
    key: Buffer.from(`customer-${random(1_000_000)}`),
    value: Buffer.from(orderJson(index, random)),
    headers: [
      ['kafka_dlt-original-topic', Buffer.from(originalTopic)],
      ['kafka_dlt-original-partition', int32(index % 8)],
      ['kafka_dlt-original-offset', int64(BigInt(index))],
      ['kafka_dlt-original-consumer-group', Buffer.from('order-service')],
      ['kafka_dlt-exception-fqcn', Buffer.from('com.example.orders.OutOfStockException')],
      ['kafka_dlt-exception-message', Buffer.from(message)],
      ['kafka_dlt-exception-stacktrace', Buffer.from(stacktrace(message, random))],
    ],
  }
}

function orderJson(index: number, random: Random): string {
  const order = { orderId: index, customerId: random(1_000_000), total: random(100_000) / 100, lines: [] as object[] }
  while (JSON.stringify(order).length < valueBytes - 120) {
    const note = `${words[random(words.length)]} ${words[random(words.length)]} ${random(1e9).toString(36)}`
    order.lines.push({ sku: random(1e9).toString(36), quantity: random(20), price: random(10_000) / 100, note })
  }
  return JSON.stringify(order).padEnd(valueBytes, ' ')
}

function stacktrace(message: string, random: Random): string {
  let text = `com.example.orders.OutOfStockException: ${message}\n`
  while (text.length < stacktraceBytes) {
    const name = words[random(words.length)]!
    const type = `${name[0]!.toUpperCase()}${name.slice(1)}Service`
    text += `\tat com.example.${name}.${type}.handle${random(100)}(${type}.java:${random(900)})\n`
  }
  return text.slice(0, stacktraceBytes)
}

export type Random = (below: number) => number

/** Mulberry32, a small generator of uniform numbers (https://gist.github.com/tommyettinger/46a874533244883189143505d203312c). */
export function randomFrom(seed: number): Random {
  let state = Math.imul(seed + 1, 0x9e3779b1)
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}
