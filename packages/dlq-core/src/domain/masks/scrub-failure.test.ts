import { expect, test } from 'vitest'
import type { Header } from '../record/record.ts'
import { scrubFailure } from './scrub-failure.ts'

const nothingSaid = { errorClass: null, errorMessage: null, errorStacktrace: null }
const scrub = (headers: readonly Header[], names: readonly string[] = ['email'], errorMessage: string | null = null) =>
  scrubFailure({ context: { ...nothingSaid, errorMessage }, headers }, { names, family: 'plain-error' })
const textsOf = ({ headers }: { headers: readonly Header[] }) => headers.map(([, value]) => value?.toString() ?? null)

test('the headers of the failure are scrubbed, and neither coordinates nor copies of the record', () => {
  const said = 'a@b.example'
  const names = [
    ...['error', 'kafka_dlt-exception-message', 'dead-letter-reason', '__connect.errors.exception.stacktrace'],
    ...['dlq-original-topic', 'kafka_dlt-original-consumer-group', 'retry_topic-attempts', 'dlq-message-id'],
    ...['springDeserializerExceptionValue', 'deserialization-failure-data', 'customer'],
    ...['dlq-attempt', 'x-original-timestamp-type'],
    ...['original_topic', 'original_partition', 'original_offset', 'original_key'],
  ]
  const scrubbed = scrub(names.map((name) => [name, Buffer.from(said)]))
  expect(scrubbed.isScrubbed).toBe(true)
  expect(textsOf(scrubbed)).toEqual([...Array(4).fill('•••'), ...Array(13).fill(said)])
})

test.each(['errorMessage', 'errorStacktrace'] as const)('a failure is scrubbed where only its %s is', (part) => {
  const context = { ...nothingSaid, [part]: 'to a@b.example' }
  const scrubbed = scrubFailure({ context, headers: [] }, { names: ['email'], family: 'plain-error' })
  expect(scrubbed).toEqual({ context: { ...nothingSaid, [part]: 'to •••' }, headers: [], isScrubbed: true })
})

test('nothing found leaves the very headers that were given', () => {
  const headers: Header[] = [
    ['error', Buffer.from('no stock')],
    ['error', null],
  ]
  expect(scrub(headers)).toMatchObject({ isScrubbed: false })
  expect(scrub(headers).headers).toBe(headers)
})

test('the text beside what is found stays as it was, whatever its alphabet', () => {
  expect(textsOf(scrub([['error', Buffer.from('Für 東京: a@b.example')]]))).toEqual(['Für 東京: •••'])
})

test('bytes that are no text go as a whole where something is found in them', () => {
  const serialised = Buffer.concat([Buffer.from([0xac, 0xed, 0x00, 0x05, 0xff]), Buffer.from('a@b.example')])
  const plain = Buffer.from([0xac, 0xed, 0xff])
  const headers: Header[] = [
    ['kafka_exception-message', serialised],
    ['kafka_exception-message', plain],
  ]
  expect(scrub(headers).headers).toEqual([['kafka_exception-message', Buffer.from('•••')], headers[1]])
})

test('a pattern that is none, as SQL can write it, lets nothing pass', () => {
  expect(scrub([], ['('], 'no account of Ann').context.errorMessage).toBe('•••')
  expect(scrub([], ['email', '('], 'no account of Ann').context.errorMessage).toBe('•••')
  expect(scrub([], ['x*'], 'no account of Ann').context.errorMessage).toBe('•••')
  expect(scrub([], ['cust-[0-9]+'], 'no account of cust-17').context.errorMessage).toBe('no account of •••')
})

test('a long text loses what is found, and nothing else', () => {
  const trace = 'at com.example.Orders.handle(Orders.java:12)\n'.repeat(6000)
  const said = (found: string) => `${found} ${trace} ${found}`
  expect(textsOf(scrub([['error', Buffer.from(said('cust-7'))]], ['cust-[0-9]+']))).toEqual([said('•••')])
  expect(textsOf(scrub([['error', Buffer.from(said('a@b.example'))]]))).toEqual([said('•••')])
})
