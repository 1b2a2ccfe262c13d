// Makes a record's key and headers readable: as text, as a number where frameworks write numbers as bytes, or else as
// base64.

import { isUtf8 } from 'node:buffer'
import { fixedInteger, variableInteger } from 'dlq-core/domain/failure/families/decode.ts'
import type { Header } from 'dlq-core/domain/record/record.ts'

export type ReadableValue = {
  readonly value: string | null
  /** `number`: the big-endian bytes as decimal text. */
  readonly encoding: 'text' | 'number' | 'base64'
}

/** `base64`: the bytes of a `number`, which may have four or eight, or be digits. */
export type ReadableHeader = ReadableValue & { readonly name: string; readonly base64?: string }

// Spring Kafka's KafkaHeaders and RetryTopicHeaders, and Spring Cloud Stream's.
const fixedIntegers = new Set([
  ...['kafka_dlt-original-', 'kafka_original-', 'x-original-'].flatMap((prefix) =>
    ['partition', 'offset', 'timestamp'].map((name) => prefix + name),
  ),
  'kafka_deliveryAttempt',
  'retry_topic-attempts',
])
const variableIntegers = new Set(['retry_topic-original-timestamp', 'retry_topic-backoff-timestamp'])

export function readableHeaders(headers: readonly Header[]): ReadableHeader[] {
  return headers.map(([name, value]) => ({ name, ...(readableNumber(name, value) ?? readable(value)) }))
}

/** Text without control characters (apart from white space) unchanged, all other bytes in base64. */
export function readable(bytes: Buffer | null): ReadableValue {
  if (bytes === null) return { value: null, encoding: 'text' }
  const text = isUtf8(bytes) ? bytes.toString('utf8') : null
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  const isText = text !== null && !/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/.test(text)
  return isText ? { value: text, encoding: 'text' } : { value: bytes.toString('base64'), encoding: 'base64' }
}

function readableNumber(name: string, value: Buffer | null): Omit<ReadableHeader, 'name'> | null {
  const number = fixedIntegers.has(name)
    ? fixedInteger(value)
    : variableIntegers.has(name)
      ? variableInteger(value)
      : null
  if (number === null || value === null) return null
  return { value: number.toString(), encoding: 'number', base64: value.toString('base64') }
}
