import { ownHeaders } from 'dlq-core/domain/failure/families/own.ts'
import { readFailure } from 'dlq-core/domain/failure/read-failure.ts'
import type { Header } from 'dlq-core/domain/record/record.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type ConsumedRecord,
  type DeadLetterOptions,
  type DeadLetterRecord,
  deadLetter,
  headerNames,
  type KafkaHeaders,
  toDeadLetter,
} from './dead-letter.ts'

class OutOfStock extends Error {}

const consumed = (headers: KafkaHeaders = {}, value: Buffer | null = Buffer.from('{"n":1}')): ConsumedRecord => ({
  topic: 'orders',
  partition: 2,
  message: { offset: '9007199254740993', timestamp: '1795260903741', key: Buffer.from('k'), value, headers },
})
const options: DeadLetterOptions = { error: new OutOfStock('none left'), consumerGroup: 'billing', attempts: 3 }

/** The record as the ingester gets it. */
function read({ topic, messages: [{ value, headers }] }: DeadLetterRecord) {
  const pairs = Object.entries(headers).flatMap(([name, values]): Header[] =>
    [values].flat().map((value): Header => [name, Buffer.from(value)]),
  )
  return readFailure({ topic, timestamp: 0n, headers: pairs, value })
}

test('a record is dead-lettered when Kafka has taken it, and not where Kafka refuses it', async () => {
  const sent: DeadLetterRecord[] = []
  const producer = { send: async (record: DeadLetterRecord) => sent.push(record) }
  await deadLetter(producer, consumed(), options)
  expect(sent).toEqual([toDeadLetter(consumed(), options)])
  const refusing = { send: () => Promise.reject(new Error('no leader')) }
  await expect(deadLetter(refusing, consumed(), options)).rejects.toThrow('no leader')
})

test('the headers are those that the ingester reads', () => {
  expect(headerNames).toEqual(ownHeaders)
  expect(read(toDeadLetter(consumed(), options))).toMatchObject({
    family: 'dlq-manager',
    context: {
      originalTopic: 'orders',
      originalPartition: 2,
      originalOffset: 9_007_199_254_740_993n,
      originalTimestamp: 1_795_260_903_741n,
      consumerGroup: 'billing',
      errorClass: 'OutOfStock',
      errorMessage: 'none left',
      errorStacktrace: expect.stringContaining('dead-letter.test.ts'),
      attempts: 3,
    },
  })
})

test("Spring's are too, and a plain error says what it can", () => {
  expect(read(toDeadLetter(consumed(), { ...options, format: 'spring' }))).toMatchObject({
    family: 'spring-dlt',
    context: {
      originalTopic: 'orders',
      originalPartition: 2,
      originalOffset: 9_007_199_254_740_993n,
      originalTimestamp: 1_795_260_903_741n,
      consumerGroup: 'billing',
      errorClass: 'OutOfStock',
      errorMessage: 'none left',
      errorStacktrace: expect.stringContaining('dead-letter.test.ts'),
    },
  })
  const plain = (error: Error) => read(toDeadLetter(consumed(), { ...options, error, format: 'error' }))
  expect(plain(new OutOfStock('none left'))).toMatchObject({
    family: 'plain-error',
    context: { errorMessage: 'OutOfStock: none left' },
  })
  expect(plain(new Error('none left')).context.errorMessage).toBe('none left')
})

test('key, value and foreign headers are kept; headers of an earlier failure go, those of a retry stay', () => {
  const headers: KafkaHeaders = {
    trace: Buffer.from([0xff]),
    tag: [Buffer.from('a'), null, Buffer.from('b')],
    empty: null,
    [headerNames.errorMessage]: Buffer.from('an earlier one'),
    [headerNames.errorStacktrace]: Buffer.from('an earlier one'),
    'dlq-message-id': Buffer.from('550e8400-e29b-41d4-a716-446655440000'),
    gone: undefined,
  }
  const { topic, acks, messages } = toDeadLetter(consumed(headers), { error: 'thrown text', consumerGroup: 'g' })
  expect({ topic, acks }).toEqual({ topic: 'orders.dlq.v1', acks: -1 })
  expect(messages[0]).toMatchObject({ key: Buffer.from('k'), value: Buffer.from('{"n":1}') })
  expect(messages[0].headers).toMatchObject({
    trace: Buffer.from([0xff]),
    tag: [Buffer.from('a'), null, Buffer.from('b')],
    empty: null,
    'dlq-message-id': Buffer.from('550e8400-e29b-41d4-a716-446655440000'),
    'dlq-error-message': 'thrown text',
  })
  expect(messages[0].headers).not.toHaveProperty(headerNames.errorStacktrace)
  expect(messages[0].headers).not.toHaveProperty('gone')
})

test('the causes stand below the error, the innermost last', () => {
  const error = new Error('outer', { cause: new OutOfStock('inner') })
  const stack = toDeadLetter(consumed(), { ...options, error }).messages[0].headers[headerNames.errorStacktrace]
  expect(stack).toMatch(/^Error: outer\n[\s\S]*\nCaused by: Error: inner\n/)
})

test('an error that is its own cause ends', () => {
  const error = Object.assign(new Error('round'), { stack: 'Error: round' })
  error.cause = error
  const stack = toDeadLetter(consumed(), { ...options, error }).messages[0].headers[headerNames.errorStacktrace]
  expect(stack).toBe(Array(10).fill('Error: round').join('\nCaused by: '))
})

test('long texts are cut between characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), fc.integer({ min: 10, max: 200 }), (text, max) => {
      const { headers } = toDeadLetter(consumed(), { ...options, error: new Error(text), maxMessageBytes: max })
        .messages[0]
      const message = headers[headerNames.errorMessage] as string
      expect(Buffer.byteLength(message)).toBeLessThanOrEqual(max)
      expect(message).not.toMatch(/\ufffd(?!.*\ufffd)/.test(text) ? /$^/ : /\ufffd …$/)
    }),
  )
})

test('a record whose bytes are more than the limit goes without its stack trace, and with all else', () => {
  // Each header counts as its name, its values and 10 bytes for their lengths.
  const headers: KafkaHeaders = { tag: [Buffer.from('a'), null], empty: null }
  const whole = toDeadLetter(consumed(headers), options).messages[0]
  const sizes = Object.entries(whole.headers).flatMap(([name, values]) =>
    [values].flat().map((value) => name.length + Buffer.byteLength(value ?? '') + 10),
  )
  const size = sizes.reduce((sum, one) => sum + one, 'k'.length + '{"n":1}'.length)
  const within = (maxBytes: number) => toDeadLetter(consumed(headers), { ...options, maxBytes }).messages[0]

  expect(within(size)).toEqual(whole)
  const { [headerNames.errorStacktrace]: stack, ...rest } = whole.headers
  expect(stack).toContain('none left')
  expect(within(size - 1)).toEqual({ ...whole, headers: rest })
})

test("a record that leaves no room gets no empty stack trace in Spring's headers", () => {
  const [{ headers }] = toDeadLetter(consumed(), { ...options, format: 'spring', maxBytes: 100 }).messages
  expect(headers).not.toHaveProperty('kafka_dlt-exception-stacktrace')
})

test('what a consumer does not know of a record is left out', () => {
  const { topic, partition, message } = consumed()
  const bare = { topic, partition, message: { offset: message.offset, timestamp: message.timestamp } }
  const { messages } = toDeadLetter(bare, { error: new OutOfStock('none left'), consumerGroup: 'billing' })
  expect(messages[0]).toMatchObject({ key: null, value: null })
  expect(messages[0].headers).not.toHaveProperty(headerNames.attempts)
})

test('any thrown value has a message', () => {
  const messageOf = (error: unknown) =>
    toDeadLetter(consumed(), { ...options, error }).messages[0].headers[headerNames.errorMessage]
  expect([undefined, null, 42, { code: 7 }, Symbol('s'), 10n].map(messageOf)).toEqual([
    'undefined',
    'null',
    '42',
    '{"code":7}',
    'Symbol(s)',
    '10',
  ])
})

test.each([
  ['Error', 'thrown text'],
  ['Error', new Error('x')],
  ['OutOfStock', new OutOfStock('x')],
  ['Named', Object.assign(new OutOfStock('x'), { name: 'Named' })],
  ['Error', new (class extends Error {})('x')],
])('the class %s is told of %o', (name, error) => {
  const { headers } = toDeadLetter(consumed(), { ...options, error }).messages[0]
  expect(headers[headerNames.errorClass]).toBe(name)
})

test('an error without a stack trace has its name and message in the place of one', () => {
  const error = Object.assign(new OutOfStock('none left'), { stack: undefined })
  const { headers } = toDeadLetter(consumed(), { ...options, error }).messages[0]
  expect(headers[headerNames.errorStacktrace]).toBe('Error: none left')
})
