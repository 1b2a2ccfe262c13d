import { describe, expect, test } from 'vitest'
import { decodeHeaders, type Expected, readFixture } from '../../../fixtures/dead-letter.ts'
import { readFailure } from './read-failure.ts'
import { stripFailureHeaders } from './strip-failure-headers.ts'

// An empty message and a missing one look the same in Spring's header: both are null.
const message = ({ message }: Expected['thrown']) => message || null

const common = ({ original, group, thrown }: Expected) => ({
  originalTopic: original.topic,
  originalPartition: original.partition,
  originalOffset: BigInt(original.offset),
  originalTimestamp: BigInt(original.timestamp),
  consumerGroup: group,
  errorClass: thrown.class,
  errorMessage: message(thrown),
})

// The record does not tell whether key and value are the original bytes, the original bytes themselves, and the phase
// and case of the capture. So these are not compared.
describe.each([
  { source: 'spring4-custom', family: 'spring-dlt', attempts: (expected: Expected) => expected.attempts ?? null },
  // Connect counts no attempts.
  { source: 'connect-json', family: 'kafka-connect', attempts: () => null },
])('a record of $source', ({ source, family, attempts }) => {
  test.each(readFixture(source).map(({ record, expected }) => ({ name: expected.case, record, expected })))(
    'is read as its facts say: $name',
    ({ record, expected }) => {
      const failure = readFailure(record)
      expect(failure).toMatchObject({ family, families: [family], context: common(expected) })
      expect(failure.context.attempts).toBe(attempts(expected))
      for (const { class: className } of expected.chain) expect(failure.context.errorStacktrace).toContain(className)
      expect(failure.ours).toEqual({ messageId: null, attempt: null, attemptId: null })
    },
  )

  test.each(readFixture(source).map(({ record, expected }) => ({ name: expected.case, record, expected })))(
    'has its original headers once the failure headers are stripped: $name',
    ({ record, expected }) => {
      const own = stripFailureHeaders(decodeHeaders(expected.originalHeaders), null)
      expect(stripFailureHeaders(record.headers, family === 'spring-dlt' ? 'spring-dlt' : 'kafka-connect')).toEqual(own)
    },
  )
})

test('the records cover every case that they were captured for', () => {
  const spring = readFixture('spring4-custom').map(({ record }) => readFailure(record).context)
  expect(spring.length).toBe(17)
  expect(spring.filter(({ errorMessage }) => errorMessage === null).length).toBe(3)
  const connect = readFixture('connect-json').map(({ record }) => readFailure(record).context)
  expect(connect.map(({ originalOffset }) => originalOffset)).toEqual([1n, 0n, 6n])
})
